#include "base/error.h"

#include "catch.h"

using namespace sdpa;

TEST_CASE("error: place and sentence are joined by a colon") {
  CHECK(std::string(Error("k.npy", "d_k is 64").what()) == "k.npy: d_k is 64");
}
