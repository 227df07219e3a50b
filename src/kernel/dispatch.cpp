#include "kernel/kernel.h"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sdpa::kernel {

namespace {

bool always() {
  return true;
}

#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && has_avx2();
}
#endif

}  // namespace

// The objects that kernel.cpp makes in the namespace of its instruction set.
#define SDPA_DECLARE(isa)                    \
  namespace isa {                            \
  extern const Kernel<float> float32;        \
  extern const Kernel<double> float64;       \
  extern const Kernel<double> double_double; \
  }
#define SDPA_ENTRY(isa, supported) \
  { #isa, supported, isa::float32, isa::float64, isa::double_double }

#if defined(__x86_64__)
SDPA_DECLARE(avx512)
SDPA_DECLARE(avx2)
#endif
SDPA_DECLARE(base)

namespace {

// Fastest first. The flags of each are in CMakeLists.txt.
constexpr InstructionSet kInstructionSets[] = {
#if defined(__x86_64__)
    SDPA_ENTRY(avx512, has_avx512),
    SDPA_ENTRY(avx2, has_avx2),
#endif
    SDPA_ENTRY(base, always),
};

}  // namespace

std::span<const InstructionSet> instruction_sets() {
  return kInstructionSets;
}

const InstructionSet& instruction_set() {
  const char* forced = std::getenv("SDPA_FORCE_ISA");
  std::string usable;
  for (const InstructionSet& set : kInstructionSets) {
    if (!set.supported()) continue;
    if (forced == nullptr || std::string_view(forced) == set.name) return set;
    usable += (usable.empty() ? "" : ", ") + std::string(set.name);
  }
  throw std::runtime_error("SDPA_FORCE_ISA: '" + std::string(forced) +
                           "' is none of the instruction sets usable here: " + usable);
}

}  // namespace sdpa::kernel
