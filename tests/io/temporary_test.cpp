#include "io/temporary.h"

#include "catch.h"
#include "io/error_of.h"

#include <optional>

using namespace sdpa;

TEST_CASE("temporary: names are in the folder, hidden and all different") {
  const TemporaryName a("there"), b("there");
  CHECK(std::string(a.path()).starts_with("there/."));
  CHECK(std::string(a.path()) != b.path());
}

TEST_CASE("temporary: a name can be used again when its owner is gone") {
  for (int i = 0; i < 1000; ++i) TemporaryName("there");
  std::optional<TemporaryName> names[8];
  for (auto& name : names) name.emplace("there");
  CHECK(error_of([] { TemporaryName("there"); }) == "too many output files at once");
}

TEST_CASE("temporary: a folder with too long a name is refused") {
  CHECK(error_of([] { TemporaryName(std::string(5000, 'x')); }) ==
        "the name of its folder is too long");
}
