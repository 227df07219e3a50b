#include "io/mapped_file.h"

#include "io/temporary.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

namespace sdpa {

namespace {

struct Mapping {
  void* start;
  std::size_t size;
  std::string place;
  dev_t device;
  ino_t file;
};

/// What is mapped now. A signal handler reads it at any moment.
std::atomic<const Mapping*> mappings[64];
std::mutex changes;  ///< held while an entry is freed, or read by who could wait
static_assert(std::atomic<const Mapping*>::is_always_lock_free, "read by a signal handler");

void print(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDERR_FILENO, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

[[noreturn]] void report_lost(const Mapping& mapping) {
  char digits[24];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), mapping.size);
  print("sdpa: ");
  print(mapping.place);
  print(": had ");
  print({digits, static_cast<std::size_t>(end - digits)});
  print(" bytes when it was opened, and has fewer now, or the disk failed\n");
  _exit(2);
}

std::atomic<bool> sent_ones_are_ignored;

extern "C" void handle_bus_error(int, siginfo_t* info, void*) {
  static std::atomic_flag reported;
  const bool is_sent = info->si_code <= 0;  // by a process, so without an address
  if (is_sent && sent_ones_are_ignored) return;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  for (const auto& entry : mappings) {
    const Mapping* mapping = entry.load();
    if (mapping == nullptr || is_sent) continue;
    if (address - reinterpret_cast<std::uintptr_t>(mapping->start) >= mapping->size) continue;
    // Other threads, which may come here for the same reason, wait for the end of the process.
    while (reported.test_and_set()) pause();
    remove_temporary_files();
    report_lost(*mapping);
  }
  remove_temporary_files();
  signal(SIGBUS, SIG_DFL);
  raise(SIGBUS);
}

void install_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction before {
    }, action{};
    action.sa_sigaction = handle_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGBUS, &action, &before);
    sent_ones_are_ignored = before.sa_handler == SIG_IGN;
  });
}

std::atomic<const Mapping*>* enter(const Mapping* mapping) {
  for (auto& entry : mappings) {
    const Mapping* expected = nullptr;
    if (entry.compare_exchange_strong(expected, mapping)) return &entry;
  }
  return nullptr;
}

}  // namespace

FileBytes map_file(int descriptor, std::size_t size, const std::string& place) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return {};
  void* start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED) return {};
  auto mapping =
      std::make_unique<const Mapping>(Mapping{start, size, place, status.st_dev, status.st_ino});
  auto* entry = enter(mapping.get());
  if (entry == nullptr) {
    munmap(start, size);
    return {};
  }
  install_handler();
  std::shared_ptr<const void> owner(start, [entry, size](void* memory) {
    const std::lock_guard lock(changes);
    const std::unique_ptr<const Mapping> unused(entry->exchange(nullptr));
    munmap(memory, size);
  });
  static_cast<void>(mapping.release());  // the owner frees it
  return {std::move(owner), {static_cast<const std::byte*>(start), size}};
}

std::optional<MappedInput> mapped_input(dev_t device, ino_t file) {
  const std::lock_guard lock(changes);
  for (const auto& entry : mappings) {
    const Mapping* mapping = entry.load();
    if (mapping != nullptr && mapping->device == device && mapping->file == file)
      return MappedInput{mapping->place, mapping->size};
  }
  return std::nullopt;
}

}  // namespace sdpa
