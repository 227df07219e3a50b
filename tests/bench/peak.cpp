#include "bench/peak.h"

#include "kernel/kernel.h"

#include <string_view>

namespace sdpa {

namespace kernel {
#if defined(__x86_64__)
namespace avx512 {
extern const bench::Peak peak;
}
namespace avx2 {
extern const bench::Peak peak;
}
#endif
namespace base {
extern const bench::Peak peak;
}
}  // namespace kernel

const bench::Peak& bench::peak() {
#if defined(__x86_64__)
  const std::string_view name = kernel::instruction_set().name;
  if (name == "avx512") return kernel::avx512::peak;
  if (name == "avx2") return kernel::avx2::peak;
#endif
  return kernel::base::peak;
}

}  // namespace sdpa
