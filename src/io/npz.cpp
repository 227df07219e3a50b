#include "io/npz.h"

#include "base/error.h"
#include "io/npy.h"
#include "io/quote.h"
#include "io/zip_reader.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

/// The text in the bytes of a .npy file behind its header: of ASCII, up to the zeros that fill it up.
std::string text_of(std::span<const std::byte> bytes, int character_bytes, std::string_view place) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = std::to_integer<unsigned char>(bytes[i]);
    const bool is_first = i % static_cast<std::size_t>(character_bytes) == 0;
    if (is_first ? byte >= 0x7f : byte != 0) throw Error(place, "is a text that is not of ASCII");
    if (is_first && byte != 0) text += static_cast<char>(byte);
  }
  return text;
}

/// The array's own header is read first: no more is unpacked than it announces.
CaseMember unpacked(std::span<const std::byte> archive, const ZipMember& member,
                    std::string_view place, std::optional<Dtype> dtype) {
  ZipReader reader(archive, member, std::string(place));
  const auto size = static_cast<std::size_t>(member.size);
  std::vector<std::byte> header(std::min(size, kNpyBeginning));
  reader.read(header);
  const std::size_t beginning = header.size();
  const std::size_t data = npy_data_offset(header, size, place);
  header.resize(std::max(data, beginning));
  reader.read(std::span(header).subspan(beginning));
  constexpr std::size_t kLongestText = 4096;
  if (const auto character = npy_character_bytes(std::span(header).first(data), place);
      character && size - data <= kLongestText) {
    header.resize(size);
    reader.read(std::span(header).subspan(std::max(data, beginning)));
    reader.finish();
    return {{}, {}, text_of(std::span(header).subspan(data), *character, place)};
  }
  const FileLayout layout = npy_layout(std::span(header).first(data), place, dtype);
  require_data_size(size - data, layout, place);

  const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
  std::ranges::copy(header, memory.get());
  reader.read({memory.get() + header.size(), size - header.size()});
  reader.finish();
  return {{}, decode({memory, {memory.get() + data, size - data}}, layout, place), {}};
}

class Archive : public MemberFile {
 public:
  Archive(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype)
      : file_(file), place_(place), dtype_(dtype), members_(zip_members(file.bytes, place)) {
    std::uint64_t packed_bytes = 0;
    for (const ZipMember& member : members_) {
      const std::string_view name = member.name;
      constexpr std::string_view kPickle = "/data.pkl";
      if (name.ends_with(kPickle))
        throw Error(place,
                    "is a PyTorch file, which is never unpickled; numpy.savez and safetensors "
                    "write what is read");
      names_.emplace_back(name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name);
      packed_bytes += std::min<std::uint64_t>(member.packed_size, file.bytes.size());
      if (packed_bytes > file.bytes.size())
        throw Error(place, "members overlap: they claim more packed bytes than the " +
                               std::to_string(file.bytes.size()) + " of the archive");
    }
    require_distinct(names_, place);
  }

  CaseMember read(std::size_t position) const override {
    const std::string place = place_ + ": " + printable(names_[position]);
    CaseMember member = unpacked(file_.bytes, members_[position], place, dtype_);
    member.name = names_[position];
    return member;
  }

 private:
  FileBytes file_;
  std::string place_;
  std::optional<Dtype> dtype_;
  std::vector<ZipMember> members_;
};

}  // namespace

std::unique_ptr<MemberFile> open_npz(const FileBytes& file, std::string_view place,
                                     std::optional<Dtype> dtype) {
  return std::make_unique<Archive>(file, place, dtype);
}

}  // namespace sdpa
