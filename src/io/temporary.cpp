#include "io/temporary.h"

#include "base/error.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <iterator>
#include <random>

namespace sdpa {

namespace {

enum State { free_slot, taken, named };

/// Names in static memory: a signal handler may read them at any moment, so they are never freed.
struct Slot {
  std::atomic<State> state{free_slot};
  char path[PATH_MAX];
};
static_assert(std::atomic<State>::is_always_lock_free, "read by a signal handler");

Slot slots[8];

/// Not SA_RESETHAND: a second signal could then end the process before the files are removed.
extern "C" void remove_temporaries(int signal_number) {
  remove_temporary_files();
  signal(signal_number, SIG_DFL);
  raise(signal_number);  // comes when this returns
}

/// Of every signal that ends a process unless it is handled or ignored. Others are left alone, and
/// so are SIGKILL and SIGSTOP, which cannot be handled.
void install_handlers() {
  constexpr int kHarmless[] = {SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};
  for (int signal_number = 1; signal_number < NSIG; ++signal_number) {
    if (std::ranges::find(kHarmless, signal_number) != std::end(kHarmless)) continue;
    struct sigaction now {};
    if (sigaction(signal_number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = remove_temporaries;
    sigaction(signal_number, &ours, nullptr);
  }
}

int take_slot() {
  for (int slot = 0; slot < static_cast<int>(std::size(slots)); ++slot) {
    State expected = free_slot;
    if (slots[slot].state.compare_exchange_strong(expected, taken)) return slot;
  }
  throw Error("too many output files at once");
}

}  // namespace

TemporaryName::TemporaryName(const std::string& folder) : slot_(take_slot()) {
  std::random_device random;
  Slot& slot = slots[slot_];
  const int length = std::snprintf(slot.path, sizeof slot.path, "%s/.sdpa-%08x%08x", folder.c_str(),
                                   random(), random());
  if (length >= static_cast<int>(sizeof slot.path)) {
    slot.state = free_slot;
    throw Error("the name of its folder is too long");
  }
  install_handlers();
  slot.state = named;
}

TemporaryName::~TemporaryName() {
  slots[slot_].state = free_slot;
}

const char* TemporaryName::path() const {
  return slots[slot_].path;
}

void remove_temporary_files() noexcept {
  for (const Slot& slot : slots)
    if (slot.state == named) unlink(slot.path);
}

}  // namespace sdpa
