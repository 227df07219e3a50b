#include "base/parallel.h"

#include "catch.h"

#include <sched.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace sdpa;

TEST_CASE("parallel: every index is worked on once") {
  for (int threads : {1, 2, 3, 7})
    for (Index count : {0, 1, 2, 100}) {
      INFO(threads << " threads, " << count << " tasks");
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(threads, count, [&](Index i) { ++visits[static_cast<std::size_t>(i)]; });
      for (const auto& visit : visits) CHECK(visit == 1);
    }
}

TEST_CASE("parallel: no more threads than asked for, and one thread is the caller") {
  for (int threads : {1, 2, 3}) {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    parallel_for(threads, 1000, [&](Index) {
      std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    CHECK(ids.size() <= static_cast<std::size_t>(threads));
    if (threads == 1) CHECK(ids == std::set{std::this_thread::get_id()});
  }
}

TEST_CASE("parallel: threads work at the same time") {
  // Each task waits for the other: one thread alone would never end.
  std::atomic<int> arrived{0};
  parallel_for(2, 2, [&](Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  CHECK(arrived == 2);
}

TEST_CASE("parallel: threads stay for the next call") {
  // Ids of threads are given again when a thread has ended; what belongs to a thread is made anew.
  static std::atomic<int> threads_seen{0};
  for (int call = 0; call < 50; ++call) {
    std::atomic<int> arrived{0};
    parallel_for(2, 2, [&](Index) {
      thread_local const int this_thread = ++threads_seen;
      arrived += this_thread > 0;
      while (arrived < 2) std::this_thread::yield();
    });
  }
  CHECK(threads_seen < 10);  // whoever is free takes the task; other tests may have left several
}

TEST_CASE("parallel: threads may use all processors of the process") {
  const auto allowed = [] {
    cpu_set_t set{};
    sched_getaffinity(0, sizeof set, &set);
    return set;
  };
  const cpu_set_t expected = allowed();
  REQUIRE(CPU_COUNT(&expected) > 0);
  std::atomic<int> arrived{0};
  cpu_set_t actual[2];
  parallel_for(2, 2, [&](Index i) {
    actual[i] = allowed();
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  for (const cpu_set_t& set : actual) CHECK(CPU_EQUAL(&set, &expected));
}

TEST_CASE("parallel: calls within tasks, and from several threads at once") {
  std::atomic<int> visits{0};
  auto call = [&] {
    parallel_for(3, 10, [&](Index) { parallel_for(3, 10, [&](Index) { ++visits; }); });
  };
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back(call);
  callers.clear();
  CHECK(visits == 4 * 10 * 10);
}

TEST_CASE("parallel: an exception of a task is thrown to the caller") {
  for (int threads : {1, 2, 3, 7}) {
    INFO(threads << " threads");
    std::string message;
    try {
      parallel_for(threads, 100, [](Index i) {
        if (i == 42) throw std::runtime_error("task 42");
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(message == "task 42");
  }
}

TEST_CASE("parallel: tasks not begun when one throws are left out") {
  int done = 0;
  CHECK_THROWS_AS(parallel_for(1, 100,
                               [&](Index i) {
                                 if (i == 42) throw std::runtime_error("task 42");
                                 ++done;
                               }),
                  std::runtime_error);
  CHECK(done == 42);
}

TEST_CASE("parallel: when every task throws, one exception arrives") {
  CHECK_THROWS_AS(parallel_for(3, 50, [](Index i) { throw std::runtime_error(std::to_string(i)); }),
                  std::runtime_error);
}

TEST_CASE("parallel: this process may use a processor") {
  CHECK(available_processors() >= 1);
}
