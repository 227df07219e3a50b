#pragma once

#include "report/close_look.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace sdpa {

/// A head on whose close rows wrong kernels are tried.
struct Trial {
  const CloseLook& look;
  const Arithmetic& arithmetic;
  int threads;
};

/// What a wrong kernel gives on a head.
struct WrongRows {
  /// Writes the row that belongs to look.rows[r]. Empty: the kernel does not exist there, or gives
  /// the right results.
  std::function<void(std::size_t r, textbook::Values& o_t)> row = nullptr;

  /// Why it gives the right results, if it does; empty where it does not exist.
  std::string why_right = {};

  bool plain = false;  ///< whether it comes from plain attention
};

struct Candidate {
  std::string_view name;
  WrongRows (*on)(const Trial& trial);
  bool needed = false;  ///< a strict check has to reject it
};

/// All of them. A bound that accepts one of the first two says nothing about an output.
std::span<const Candidate> candidates();
constexpr std::size_t kVacuousCandidates = 2;

}  // namespace sdpa
