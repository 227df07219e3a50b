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

/// The array's own header is read first: no more is unpacked than it announces.
Array unpacked(std::span<const std::byte> archive, const ZipMember& member, std::string_view place,
               std::optional<Dtype> dtype) {
  ZipReader reader(archive, member, std::string(place));
  const auto size = static_cast<std::size_t>(member.size);
  std::vector<std::byte> header(std::min(size, kNpyBeginning));
  reader.read(header);
  const std::size_t beginning = header.size();
  const std::size_t data = npy_data_offset(header, size, place);
  header.resize(std::max(data, beginning));
  reader.read(std::span(header).subspan(beginning));
  const FileLayout layout = npy_layout(std::span(header).first(data), place, dtype);
  require_data_size(size - data, layout, place);

  const std::shared_ptr<std::byte[]> memory(new std::byte[size]);
  std::ranges::copy(header, memory.get());
  reader.read({memory.get() + header.size(), size - header.size()});
  reader.finish();
  return decode({memory, {memory.get() + data, size - data}}, layout, place);
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
    return {names_[position], unpacked(file_.bytes, members_[position], place, dtype_), {}};
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
