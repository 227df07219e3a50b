#include "io/zip_reader.h"

#include "base/error.h"
#include "io/quote.h"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

namespace sdpa {

namespace {

enum Method { kStored = 0, kDeflate = 8 };

std::string method_text(int method) {
  constexpr std::pair<int, const char*> kNames[] = {
      {9, "Deflate64"}, {12, "bzip2"}, {14, "LZMA"}, {93, "Zstandard"}, {95, "XZ"}};
  for (const auto& [number, name] : kNames)
    if (number == method) return name;
  return "method " + std::to_string(method);
}

void check_packing(const ZipMember& member, std::string_view place) {
  constexpr int kEncrypted = 1;
  if ((member.flags & kEncrypted) != 0) throw Error(place, "is encrypted");
  if (member.method != kStored && member.method != kDeflate)
    throw Error(place, "is packed by " + method_text(member.method) +
                           "; members that are stored or packed by deflate are read");
  // Deflate makes at most 258 bytes of two bits.
  constexpr std::uint64_t kLargestRatio = 1032;
  if (member.method == kStored ? member.size != member.packed_size
                               : member.size / kLargestRatio > member.packed_size)
    throw Error(place, "claims " + std::to_string(member.size) + " bytes, which " +
                           std::to_string(member.packed_size) + " packed bytes cannot hold");
}

/// The packed bytes, behind the member's own header of 30 bytes, a name and an extra field.
std::span<const std::byte> packed_bytes(std::span<const std::byte> archive, const ZipMember& member,
                                        std::string_view place) {
  constexpr std::size_t kHeaderBytes = 30;
  const auto damaged = [&](const std::string& what) {
    throw Error(place, "damaged: its header at byte " + std::to_string(member.header) + what);
  };
  if (archive.size() < kHeaderBytes || member.header > archive.size() - kHeaderBytes)
    damaged(" is beyond the " + std::to_string(archive.size()) + " bytes of the archive");
  const auto header = archive.subspan(member.header);
  const auto number_at = [&](std::size_t position) {
    std::uint16_t number;
    std::memcpy(&number, header.data() + position, sizeof number);
    return number;
  };
  if (std::memcmp(header.data(), "PK\3\4", 4) != 0) damaged(" is not one");
  if (number_at(8) != member.method)
    damaged(" says method " + std::to_string(number_at(8)) + ", the directory " +
            std::to_string(member.method));
  const std::size_t name_size = number_at(26);
  const std::size_t begin = kHeaderBytes + name_size + number_at(28);
  if (begin > header.size() || member.packed_size > header.size() - begin)
    damaged(" is followed by fewer than the " + std::to_string(member.packed_size) +
            " packed bytes that it should have");
  const std::string_view name(reinterpret_cast<const char*>(header.data()) + kHeaderBytes,
                              name_size);
  if (name != member.name)
    damaged(" is that of " + in_quotes(name) + ", not of " + in_quotes(member.name));
  return header.subspan(begin, member.packed_size);
}

}  // namespace

struct ZipReader::Inflater {
  z_stream stream{};
  int state = Z_OK;

  Inflater() {
    constexpr int kWithoutHeader = -MAX_WBITS;
    if (inflateInit2(&stream, kWithoutHeader) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
};

ZipReader::ZipReader(std::span<const std::byte> archive, const ZipMember& member, std::string place)
    : place_(std::move(place)), size_(member.size), wanted_checksum_(member.checksum) {
  check_packing(member, place_);
  packed_ = packed_bytes(archive, member, place_);
  if (member.method == kDeflate) inflater_ = std::make_unique<Inflater>();
}

ZipReader::~ZipReader() = default;

std::size_t ZipReader::unpack(std::byte* out, std::size_t size) {
  if (!inflater_) {
    const std::size_t count = std::min(size, packed_.size());
    if (count != 0) std::memcpy(out, packed_.data(), count);
    packed_ = packed_.subspan(count);
    return count;
  }
  z_stream& stream = inflater_->stream;
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  std::size_t done = 0;
  while (done < size && inflater_->state != Z_STREAM_END) {
    const std::size_t in = std::min(packed_.size(), kMost);
    const std::size_t room = std::min(size - done, kMost);
    stream.next_in = reinterpret_cast<const Bytef*>(packed_.data());
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(out + done);
    stream.avail_out = static_cast<uInt>(room);
    inflater_->state = inflate(&stream, Z_NO_FLUSH);
    packed_ = packed_.subspan(in - stream.avail_in);
    done += room - stream.avail_out;
    if (inflater_->state == Z_BUF_ERROR) break;  // no more packed bytes
    if (inflater_->state == Z_MEM_ERROR) throw std::bad_alloc();
    if (inflater_->state != Z_OK && inflater_->state != Z_STREAM_END)
      throw Error(place_, "damaged: its packed bytes are not deflate's");
  }
  return done;
}

void ZipReader::read(std::span<std::byte> out) {
  if (out.empty()) return;
  const std::size_t count = unpack(out.data(), out.size());
  done_ += count;
  if (count < out.size())
    throw Error(place_,
                "claims " + std::to_string(size_) + " bytes, but has " + std::to_string(done_));
  checksum_ = static_cast<std::uint32_t>(
      crc32_z(checksum_, reinterpret_cast<const Bytef*>(out.data()), out.size()));
}

void ZipReader::finish() {
  std::byte more;
  if (unpack(&more, 1) != 0)
    throw Error(place_, "claims " + std::to_string(size_) + " bytes, but has more");
  if (inflater_ && inflater_->state != Z_STREAM_END)
    throw Error(place_, "damaged: its packed bytes do not come to an end");
  if (!packed_.empty())
    throw Error(place_, "damaged: " + std::to_string(packed_.size()) +
                            " packed bytes are behind the end of what they hold");
  if (checksum_ != wanted_checksum_)
    throw Error(place_, "damaged: its bytes do not match its checksum");
}

}  // namespace sdpa
