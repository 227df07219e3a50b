#include "cli/suggest.h"

#include "catch.h"

using namespace sdpa;

namespace {

std::string nearest(std::string_view word) {
  return nearest_word(word, {"--dtype", "--threads", "--query", "-q", "--precision", "check"});
}

}  // namespace

TEST_CASE("suggest: one letter too few, too many, wrong, or swapped with its neighbour") {
  for (const char* word : {"--dtpe", "--dttype", "--dtyqe", "--dtpye"})
    CHECK(nearest(word) == "--dtype");
  CHECK(nearest("chek") == "check");
  CHECK(nearest("hceck") == "check");
}

TEST_CASE("suggest: a third of the letters may be wrong, no more") {
  CHECK(nearest("--trheaads") == "--threads");
  CHECK(nearest("--trhaeds") == "--threads");
  CHECK(nearest("--trhaesd").empty());
  CHECK(nearest("--chord").empty());
  CHECK(nearest("--quiet").empty());
}

TEST_CASE("suggest: an end that is missing, other case, other dashes") {
  CHECK(nearest("--prec") == "--precision");
  CHECK(nearest("--pr").empty());
  CHECK(nearest("--DTYPE") == "--dtype");
  CHECK(nearest("-threads") == "--threads");
  CHECK(nearest("--q") == "-q");
}

TEST_CASE("suggest: nothing for words without letters, and for very long ones") {
  for (const char* word : {"", "-", "--", "x"}) CHECK(nearest(word).empty());
  CHECK(nearest(std::string(1 << 20, 'q')).empty());
}
