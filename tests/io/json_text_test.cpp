#include "io/json_text.h"

#include "catch.h"
#include "io/error_of.h"

using namespace sdpa;

TEST_CASE("json text: an error shows the whole word at its position") {
  const auto message = [](std::string_view text, std::size_t position) {
    return error_of([&] { throw_json_error(text, position, "k"); });
  };
  CHECK(message("[1,\n -inf]", 7) == "k: line 2, column 2: '-inf' is not JSON here");
  CHECK(message("[1,]", 4) == "k: line 1, column 4: ']' is not JSON here");
  CHECK(message("[1", 3) == "k: line 1, column 3: the text ends too early");
  CHECK(message("", 0) == "k: line 1, column 1: the text ends too early");
}
