#include "io/bits_hint.h"

#include "array/float16.h"
#include "catch.h"
#include "io/note.h"

#include <cstring>
#include <random>
#include <string>

using namespace sdpa;

namespace {

std::string heard;

template <class Bits>
std::string note_of(Index count, Bits bits_of_normal) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  Array array(Shape({count}), Dtype::bfloat16);
  for (Index i = 0; i < count; ++i) {
    const std::uint16_t bits = bits_of_normal(normal(random));
    std::memcpy(array.mutable_data() + 2 * i, &bits, 2);
  }
  heard.clear();
  const NoteListener before = set_note_listener([](const std::string& text) { heard = text; });
  note_float16_bits(array, "q.bin");
  set_note_listener(before);
  return heard;
}

}  // namespace

TEST_CASE("bits hint: float16 read as bfloat16 is noticed, bfloat16 is not") {
  const std::string note = note_of(100, double_to_float16);
  CHECK(note.starts_with("q.bin: as bfloat16 its numbers spread from 2^-"));
  CHECK(note.ends_with("; are they float16?"));
  CHECK(note_of(100, double_to_bfloat16).empty());
  CHECK(note_of(10'000, double_to_bfloat16).empty());
  CHECK(note_of(10, double_to_float16).empty());
  CHECK(note_of(100, [](double) { return std::uint16_t{0}; }).empty());
}
