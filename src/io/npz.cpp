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

/// q, k or v as a position, of a member called so, or so with .npy behind.
int operand_of(std::string_view member, std::string_view place) {
  const std::string_view name =
      member.ends_with(".npy") ? member.substr(0, member.size() - 4) : member;
  if (name == "q") return 0;
  if (name == "k") return 1;
  if (name == "v") return 2;
  throw Error(place, "member " + in_quotes(member) + " is not one of 'q', 'k' and 'v'");
}

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

}  // namespace

Case read_npz_case(const FileBytes& file, std::string_view place, std::optional<Dtype> dtype) {
  constexpr std::string_view kNames[] = {"q", "k", "v"};
  std::optional<Array> operands[3];
  std::uint64_t packed_bytes = 0;
  for (const ZipMember& member : zip_members(file.bytes, place)) {
    const int operand = operand_of(member.name, place);
    const std::string member_place = std::string(place) + ": " + std::string(kNames[operand]);
    if (operands[operand]) throw Error(member_place, "is given twice");
    packed_bytes += std::min<std::uint64_t>(member.packed_size, file.bytes.size());
    if (packed_bytes > file.bytes.size())
      throw Error(place, "members overlap: they claim more packed bytes than the " +
                             std::to_string(file.bytes.size()) + " of the archive");
    operands[operand] = unpacked(file.bytes, member, member_place, dtype);
  }
  for (int operand = 0; operand < 3; ++operand)
    if (!operands[operand])
      throw Error(place, "member " + in_quotes(kNames[operand]) + " is missing");
  return {*operands[0], *operands[1], *operands[2]};
}

}  // namespace sdpa
