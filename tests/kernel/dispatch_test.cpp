#include "kernel/kernel.h"

#include "catch.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

using namespace sdpa;
using kernel::InstructionSet;

namespace {

/// Sets SDPA_FORCE_ISA, or removes it, for as long as it lives.
class ForcedSet {
 public:
  explicit ForcedSet(const char* name) {
    if (const char* before = std::getenv(kVariable)) before_ = before;
    set(name);
  }
  ~ForcedSet() { set(before_ ? before_->c_str() : nullptr); }
  ForcedSet(const ForcedSet&) = delete;

 private:
  static constexpr const char* kVariable = "SDPA_FORCE_ISA";
  static void set(const char* name) {
    if (name != nullptr)
      setenv(kVariable, name, 1);
    else
      unsetenv(kVariable);
  }
  std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("dispatch: the last instruction set runs everywhere", "[dispatch]") {
  CHECK(std::string(kernel::instruction_sets().back().name) == "base");
  CHECK(kernel::instruction_sets().back().supported());
}

TEST_CASE("dispatch: SDPA_FORCE_ISA names the instruction set", "[dispatch]") {
  for (const InstructionSet& set : kernel::instruction_sets()) {
    const ForcedSet forced(set.name);
    if (set.supported())
      CHECK(&kernel::instruction_set() == &set);
    else
      CHECK_THROWS_AS(kernel::instruction_set(), std::runtime_error);
  }
}

TEST_CASE("dispatch: without SDPA_FORCE_ISA the first usable instruction set is taken",
          "[dispatch]") {
  const ForcedSet none(nullptr);
  const auto sets = kernel::instruction_sets();
  CHECK(&kernel::instruction_set() ==
        &*std::ranges::find_if(sets, [](const InstructionSet& set) { return set.supported(); }));
}

TEST_CASE("dispatch: an unknown SDPA_FORCE_ISA is an error that names the usable ones",
          "[dispatch]") {
  for (const char* name : {"sse9", "", "BASE", "avx"}) {
    const ForcedSet forced(name);
    try {
      kernel::instruction_set();
      FAIL("'" << name << "' was accepted");
    } catch (const std::runtime_error& error) {
      const std::string message = error.what();
      CHECK(message.find("SDPA_FORCE_ISA: '" + std::string(name) + "'") == 0);
      CHECK(message.find("base") != std::string::npos);
    }
  }
}
