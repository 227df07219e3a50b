#pragma once

#include "base/index.h"
#include "kernel/kernel.h"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace sdpa {

/// Memory that is written before it is read, and kept for the next use.
class Memory {
 public:
  /// At least so many bytes, aligned for the kernel; what was there is lost if it has to grow.
  void* hold(std::size_t bytes) {
    constexpr std::size_t kUnit = kernel::kAlignment;
    if (bytes > bytes_) {
      memory_.reset();  // before the larger one, not beside it
      bytes_ = 0;
      const std::size_t whole_units = (bytes + kUnit - 1) / kUnit * kUnit;
      memory_.reset(std::aligned_alloc(kUnit, whole_units));
      if (memory_ == nullptr) throw std::bad_alloc();
      bytes_ = whole_units;
    }
    return memory_.get();
  }
  void* get() const { return memory_.get(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

/// The same for numbers of one type.
template <class Number>
class Buffer {
 public:
  Number* hold(Index count) {
    return static_cast<Number*>(memory_.hold(static_cast<std::size_t>(count) * sizeof(Number)));
  }

 private:
  Memory memory_;
};

/// What a thread keeps from one group of queries to the next.
template <class Number>
struct Buffers {
  Buffer<Number> q, o, o_low, sums, sums_low, squares, largest, w, w_low;
  Buffer<Number> k, v, v_columns;  // a block
  Buffer<Number> sight, bias;      // of a block: flags, biases
  std::vector<Memory> workspaces;  // that are not in use

  static Buffers& of_this_thread() {
    thread_local Buffers buffers;
    return buffers;
  }
};

}  // namespace sdpa
