#include "io/text.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/note.h"
#include "io/temporary_folder.h"

#include <cmath>
#include <string>

using namespace sdpa;

namespace {

std::string last_note;

Array read(std::string_view text, Dtype dtype = Dtype::float64,
           const std::optional<Shape>& shape = {}) {
  last_note.clear();
  const auto before = set_note_listener([](const std::string& sentence) { last_note = sentence; });
  try {
    Array array = read_text(bytes_of(text).bytes, dtype, shape, "q.csv");
    set_note_listener(before);
    return array;
  } catch (...) {
    set_note_listener(before);
    throw;
  }
}

std::string error_in(std::string_view text, Dtype dtype = Dtype::float64,
                     const std::optional<Shape>& shape = {}) {
  return error_of([&] { read(text, dtype, shape); });
}

}  // namespace

TEST_CASE("text: numbers by blanks, tabs, commas or semicolons, a row a line") {
  for (const char* text : {"1 2\n3 4\n", "1\t2\n3\t4", "1,2\n3,4\n", "1; 2\r\n3 ;4\r\n",
                           " 1 , 2 ,\n3,4,\n", "# head\n\n1 2 # one\n  \n3 4\n#end",
                           "\xef\xbb\xbf"
                           "1 2\n3 4"}) {
    INFO(text);
    const Array array = read(text);
    CHECK(array.shape() == Shape({2, 2}));
    CHECK(array.dtype() == Dtype::float64);
    for (Index i = 0; i < 4; ++i) CHECK(array.at(i) == static_cast<double>(i + 1));
    CHECK(last_note.empty());
  }
  CHECK(read("1\n2\n3\n").shape() == Shape({3, 1}));
  CHECK(read("1 2 3").shape() == Shape({1, 3}));
  CHECK(std::isnan(read("nan -inf 1").at(0)));
  CHECK(read("nan -inf 1").at(1) == -HUGE_VAL);
}

TEST_CASE("text: one line of words is a header, and a note says so") {
  CHECK(read("a,b\n1,2\n").shape() == Shape({1, 2}));
  CHECK(last_note == "q.csv: line 1 is taken for a header: 'a,b'");
  CHECK(read("# c\nfeature one;feature two\n1;2\n").at(1) == 2);
  CHECK(last_note == "q.csv: line 2 is taken for a header: 'feature one;feature two'");
  CHECK(error_in("a,b\nc,d\n1,2\n") == "q.csv: line 2: 'c' is not a number");
  CHECK(error_in("a,1\n1,2\n") == "q.csv: line 1: 'a' is not a number");
  CHECK(
      error_in(",a,b\n0,1,2\n") ==
      "q.csv: line 1: the first column has no name, as where rows are numbered; leave that column "
      "out");
  CHECK(error_in("a,b\n") == "q.csv: holds no numbers");
}

TEST_CASE("text: what is no array is refused with its line") {
  CHECK(error_in("1 2\n3\n") == "q.csv: line 2: 1 number, the lines before have 2");
  CHECK(error_in("1\n\n2 3\n") == "q.csv: line 3: 2 numbers, the lines before have 1");
  CHECK(error_in("1,,2\n") == "q.csv: line 1: an empty field before ','");
  CHECK(error_in("1,2\n,3\n") == "q.csv: line 2: an empty field before ','");
  CHECK(error_in("1,5;2,5\n") ==
        "q.csv: line 1: commas and semicolons; one of them separates numbers, and . is before "
        "decimals");
  CHECK(error_in("1 x\n") == "q.csv: line 1: 'x' is not a number");
  CHECK(error_in("1 2\n3 \"4\"\n") == "q.csv: line 2: '\"4\"' is not a number");
  CHECK(error_in("1e999\n") == "q.csv: line 1: the number '1e999' is too large for float64");
  CHECK(error_in("1\n1e39\n", Dtype::float32) ==
        "q.csv: line 2: the number '1e39' is too large for float32");
  CHECK(error_in("#\n") == "q.csv: holds no numbers");
}

TEST_CASE("text: a shape gives more axes, whatever the lines") {
  const Array array = read("1 2 3\n4 5 6\n7 8\n", Dtype::float64, Shape({2, 2, 2}));
  CHECK(array.shape() == Shape({2, 2, 2}));
  CHECK(array.at(7) == 8);
  CHECK(error_in("1 2 3\n4 5 6\n", Dtype::float64, Shape({2, 2})) ==
        "q.csv: 6 numbers, shape (2, 2) needs 4; they would fit as 3x2 or as 2x3");
}

TEST_CASE("text: rounded once to the type") {
  // Above a middle of float16 by less than float64 shows.
  CHECK(read("1.00048828125000000000000000001", Dtype::float16).at(0) == 1 + 0x1p-10);
  CHECK(read("1.00048828125", Dtype::float16).at(0) == 1);
}

TEST_CASE("text: what looks like it") {
  CHECK(is_text(bytes_of("1 2\n").bytes));
  CHECK_FALSE(is_text(bytes_of(std::string_view("1\0002", 3)).bytes));
  CHECK_FALSE(is_text(bytes_of("\x7f"
                               "ELF")
                          .bytes));
  CHECK_FALSE(is_text(bytes_of("").bytes));
  CHECK(count_text_numbers(bytes_of("1 2,3\n-4e5 # 6").bytes) == 4);
  CHECK(count_text_numbers(bytes_of("12345678").bytes) == 1);
  CHECK_FALSE(count_text_numbers(bytes_of("ab cd").bytes).has_value());
}
