#pragma once

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

/// As root, becomes an ordinary user, for whom permissions count.
inline void drop_root() {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(99);
}
