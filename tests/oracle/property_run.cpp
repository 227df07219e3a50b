// property_run SEED COUNT: compares the product with the referee on the problems of COUNT seeds, without and with a mask, and with scores scaled and capped,
// from SEED on, over all processors. Prints every difference; exits with 1 if there is one.

#include "base/parallel.h"
#include "oracle/property.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

int main(int argc, char* argv[]) {
  if (argc != 3) {
    std::fputs("usage: property_run SEED COUNT\n", stderr);
    return 2;
  }
  const std::uint64_t first = std::strtoull(argv[1], nullptr, 10);
  const sdpa::Index count = std::atol(argv[2]);
  std::atomic<long> differences{0};
  sdpa::parallel_for(sdpa::available_processors(), count, [&](sdpa::Index i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    for (const auto& difference :
         {sdpa::oracle::difference_of(seed), sdpa::oracle::masked_difference_of(seed),
          sdpa::oracle::scored_difference_of(seed)}) {
      if (!difference) continue;
      ++differences;
      std::printf("%s\n", difference->c_str());
    }
  });
  std::printf("%ld differences in %td problems, seeds from %llu on\n", differences.load(), count,
              static_cast<unsigned long long>(first));
  return differences == 0 ? 0 : 1;
}
