#pragma once

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

/// Runs `function` in a child process, which then exits with 0 without running destructors, and
/// returns the status that waitpid gives. An exception ends the child by abort.
template <class Function>
int status_of_child(Function function) {
  const pid_t child = fork();
  if (child == 0) {
    // The test program catches these to report them.
    for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGABRT})
      std::signal(signal_number, SIG_DFL);
    function();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// The most memory that `function` needs, in bytes, beyond what this process begins with: pages of
/// mapped files count as well. -1 if it does not end.
template <class Function>
long long peak_memory_of(Function function) {
  const auto peak_of_child = [](auto work) -> long long {
    const pid_t child = fork();
    if (child == 0) {
      work();
      _exit(0);
    }
    int status = 0;
    rusage usage{};
    wait4(child, &status, 0, &usage);
    return status == 0 ? 1024LL * usage.ru_maxrss : -1;
  };
  malloc_trim(0);  // free memory that this process still held would serve the child for nothing
  const long long with = peak_of_child(function);
  return with < 0 ? -1 : with - peak_of_child([] {});
}

/// As root, becomes an ordinary user, for whom permissions count.
inline void drop_root() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(99);
}
