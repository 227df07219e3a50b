#pragma once

#include "array/array.h"
#include "base/error.h"
#include "io/case.h"
#include "io/file.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

// What the fuzz targets share: whatever the bytes are, a reader returns arrays that can be read
// from the first element to the last, or throws Error with one line of text.

namespace fuzz {

inline sdpa::FileBytes bytes_of(const std::uint8_t* data, std::size_t size) {
  return {nullptr, {reinterpret_cast<const std::byte*>(data), size}};
}

/// Reads every byte of the array.
inline void use(const sdpa::Array& array) {
  std::uint8_t sum = 0;
  for (const std::byte byte : array.bytes()) sum ^= std::to_integer<std::uint8_t>(byte);
  asm volatile("" : : "r"(sum));  // else the loop would be removed
}

inline void use(const sdpa::Case& operands) {
  use(*operands.q.array);
  use(*operands.k.array);
  use(*operands.v.array);
}

inline void use(const std::unique_ptr<sdpa::MemberFile>& file) {
  for (std::size_t i = 0; i < file->names().size(); ++i) {
    const sdpa::CaseMember member = file->read(i);
    if (member.array) use(*member.array);
  }
  use(sdpa::case_from(*file, {}, "place"));
}

template <class Read>
int check(Read read) {
  try {
    use(read());
  } catch (const sdpa::Error& error) {
    const std::string message = error.what();
    const bool plain =
        std::ranges::none_of(message, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (!plain || !message.starts_with("place") || message.size() > 1000) std::abort();
  }
  return 0;
}

}  // namespace fuzz
