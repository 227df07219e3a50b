#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace sdpa {

int available_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int threads, Index count, const std::function<void(Index)>& task) {
  std::atomic<Index> next{0};
  std::mutex mutex;
  std::exception_ptr first_failure;

  auto work = [&] {
    for (Index i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!first_failure) first_failure = std::current_exception();
        next = count;
        return;
      }
    }
  };

  std::vector<std::jthread> helpers;
  const Index helper_count = std::min<Index>(threads, count) - 1;
  for (Index i = 0; i < helper_count; ++i) helpers.emplace_back(work);
  work();
  helpers.clear();
  if (first_failure) std::rethrow_exception(first_failure);
}

}  // namespace sdpa
