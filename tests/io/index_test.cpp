#include "io/index.h"

#include "catch.h"
#include "io/error_of.h"

#include <numeric>
#include <string>

using namespace sdpa;

namespace {

/// 0, 1, 2 ... as (2, 3, 4).
Array numbers() {
  Array array(Shape({2, 3, 4}), Dtype::int8);
  auto* first = reinterpret_cast<std::int8_t*>(array.mutable_data());
  std::iota(first, first + 24, std::int8_t{0});
  return array;
}

const Array kArray = numbers();

Array chosen(std::string_view text) {
  return indexed(kArray, parse_index(text, "q.npy"), "q.npy");
}

/// "(3,): 0 4 8"
std::string text_of(std::string_view index) {
  const Array array = chosen(index);
  std::string text = array.shape().text() + ":";
  for (Index i = 0; i < array.shape().element_count(); ++i)
    text.append(" ").append(shortest_text(array.at(i), Dtype::float64));
  return text;
}

bool is_view(std::string_view index) {
  const std::byte* data = chosen(index).data();
  return data >= kArray.data() && data < kArray.data() + kArray.size_bytes();
}

std::string error_in(std::string_view index) {
  return error_of([&] { chosen(index); });
}

}  // namespace

// The expected values are what numpy gives for np.arange(24).reshape(2, 3, 4)[...].
TEST_CASE("index: elements are those that numpy chooses") {
  CHECK(text_of("1,2") == "(4,): 20 21 22 23");
  CHECK(text_of("-1,-1,-1") == "(): 23");
  CHECK(text_of(":,0,:2") == "(2, 2): 0 1 12 13");
  CHECK(text_of("...,3") == "(2, 3): 3 7 11 15 19 23");
  CHECK(text_of("0,...,1:3") == "(3, 2): 1 2 5 6 9 10");
  CHECK(text_of("0,1:,None,2") == "(2, 1): 6 10");
  CHECK(text_of("None,...,newaxis,0,0") == "(1, 2, 1): 0 12");
  CHECK(text_of("1,0,::2") == "(2,): 12 14");
  CHECK(text_of("1,0,::-1") == "(4,): 15 14 13 12");
  CHECK(text_of("0,::-2,1") == "(2,): 9 1");
  CHECK(text_of("0,0,-2:") == "(2,): 2 3");
  CHECK(text_of("0,0,-3:-1") == "(2,): 1 2");
  CHECK(text_of("0,0,:1000") == "(4,): 0 1 2 3");
  CHECK(text_of("0,0,-1000:2") == "(2,): 0 1");
  CHECK(text_of("0,0,3:1") == "(0,):");
  CHECK(text_of("0,0,3:1:-1") == "(2,): 3 2");
  CHECK(text_of("0,0,10::-3") == "(2,): 3 0");
  CHECK(text_of("0,0,1:9223372036854775807:9223372036854775807") == "(1,): 1");
  CHECK(text_of("0,0,::-9223372036854775808") == "(1,): 3");
  CHECK(text_of("5:,0,0") == "(0,):");
  CHECK(text_of(" 0 , 0 , 1 : 2 ,") == "(1,): 1");
  CHECK(text_of("...").starts_with("(2, 3, 4): 0 1 2"));
  CHECK(text_of("...,0,0,0") == "(): 0");
}

TEST_CASE("index: what adjoins is a view, the rest a copy") {
  for (const char* index :
       {"0", "1,:", "0,1:3", "None,1,2,1:3", "...", ":,:,:", "1,2,3", "1:,1:2,:2"})
    CHECK(is_view(index));
  for (const char* index : {":,0", "...,0", "0,:,1:", "::-1", "0,::2"}) CHECK_FALSE(is_view(index));
}

TEST_CASE("index: what numpy refuses is refused") {
  CHECK(error_in("2") == "q.npy: index 2 is outside axis 0 of 2: (2, 3, 4)");
  CHECK(error_in("0,-4") == "q.npy: index -4 is outside axis 1 of 3: (2, 3, 4)");
  CHECK(error_in("0,0,0,0") == "q.npy: the index has 4 items, the array 3 axes: (2, 3, 4)");
  CHECK(error_in("...,...") == "q.npy: more than one ... in the index '...,...'");
  CHECK(error_in("::0") == "q.npy: a step of 0 in the index '::0'");
  for (const std::string text : {"", ",", "a", "1.5", "1,,2", "1 2", "::::", "0x1", "(0)", "True"})
    CHECK(error_in(text) ==
          "q.npy: no index is written '" + text +
              "'; it is integers, a:b, ... and None joined by commas, as [:,0,-1]");
  std::string many(41 * 5, ',');
  for (int i = 0; i < 41; ++i) many.replace(static_cast<std::size_t>(i) * 5, 4, "None");
  CHECK(error_in(many) == "q.npy: a shape of 44 axes, the most is 32");
}
