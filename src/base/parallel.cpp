#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

namespace sdpa {

namespace {

/// Those that the calling thread may use; none where the system does not say.
std::optional<cpu_set_t> allowed_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return std::nullopt;
  return set;
}

/// One call of parallel_for.
class Job {
 public:
  Job(Index count, const std::function<void(Index)>& task) : count_(count), task_(task) {}

  /// Takes one index after another until none is left.
  void work() {
    for (Index i = next_++; i < count_; i = next_++) {
      try {
        task_(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!first_failure_) first_failure_ = std::current_exception();
        next_ = count_;
        return;
      }
    }
  }

  void rethrow_failure() const {
    if (first_failure_) std::rethrow_exception(first_failure_);
  }

  Index helpers = 0;  ///< at work now; guarded by the pool's mutex

 private:
  const Index count_;
  const std::function<void(Index)>& task_;
  std::atomic<Index> next_{0};
  std::mutex mutex_;
  std::exception_ptr first_failure_;
};

/// Threads that wait for jobs.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
  }

  /// Works on the job together with up to `helpers` threads of the pool, until it is done.
  void run(Job& job, Index helpers) {
    {
      const std::lock_guard lock(mutex_);
      open_.insert(open_.end(), static_cast<std::size_t>(helpers), &job);
      start_missing_threads();
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    std::erase(open_, &job);
    left_.wait(lock, [&] { return job.helpers == 0; });
  }

 private:
  void start_missing_threads() {
    try {
      while (threads_.size() < busy_ + open_.size()) {
        const std::optional<cpu_set_t> allowed = allowed_processors();
        threads_.emplace_back([this, allowed] { serve(allowed); });
        if (allowed) move_away(threads_.back(), *allowed);
      }
    } catch (const std::system_error&) {
      // No more threads to be had: those there are, the caller at least, do all of it.
    }
  }

  void serve(const std::optional<cpu_set_t>& allowed) {
    std::unique_lock lock(mutex_);  // which its maker holds until the thread has been moved
    if (allowed) sched_setaffinity(0, sizeof *allowed, &*allowed);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || !open_.empty(); });
      if (stopping_) return;
      Job& job = *open_.back();
      open_.pop_back();
      ++busy_;
      ++job.helpers;
      lock.unlock();
      job.work();
      lock.lock();
      --busy_;
      --job.helpers;
      left_.notify_all();
    }
  }

  /// Linux may start a thread on the processor of its maker and leave both there for 10 ms, longer
  /// than many a job takes. So it may go to all others only, until it runs.
  static void move_away(std::jthread& thread, cpu_set_t others) {
    CPU_CLR(sched_getcpu(), &others);
    if (CPU_COUNT(&others) > 0)
      pthread_setaffinity_np(thread.native_handle(), sizeof others, &others);
  }

  std::mutex mutex_;
  std::condition_variable wake_, left_;
  std::vector<Job*> open_;  // once for each helper that may still join
  std::size_t busy_ = 0;    // threads at work
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // the last member: joined before the others go
};

}  // namespace

int available_processors() {
  const std::optional<cpu_set_t> allowed = allowed_processors();
  if (allowed) return std::max(1, CPU_COUNT(&*allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(int threads, Index count, const std::function<void(Index)>& task) {
  Job job(count, task);
  const Index helpers = std::min<Index>(threads, count) - 1;
  if (helpers > 0) {
    static Pool pool;
    pool.run(job, helpers);
  } else {
    job.work();
  }
  job.rethrow_failure();
}

}  // namespace sdpa
