#include "report/wrong_kernels.h"

#include "report/candidates.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

using textbook::Values;

/// What the bound says of wrong rows on one head.
WrongKernelFate fate_of(const Trial& n, const WrongRows& wrong) {
  const Values& sizes = n.look.value_sizes;
  // How far the rows may be from what that kernel gives, relative to the largest values.
  const double uncertain =
      wrong.plain && n.look.precision == Precision::float32 ? 0x1p-15 : 0x1p-44;
  const Dtype output = n.arithmetic.output;
  auto fate = WrongKernelFate::right;
  Values o_t(sizes.size());
  for (std::size_t r = 0; r < n.look.rows.size(); ++r) {
    const CloseRow& row = n.look.rows[r];
    wrong.row(r, o_t);
    for (std::size_t d = 0; d < o_t.size(); ++d) {
      const double right = row.output[d];
      if (!std::isfinite(right)) continue;
      const double error = std::fabs(o_t[d] - right), slack = uncertain * sizes[d];
      if (!(error <= row.allowed[d] + slack)) return WrongKernelFate::rejected;
      if (error > slack && rounded(o_t[d], output) != rounded(right, output))
        fate = WrongKernelFate::accepted;
    }
  }
  return fate;
}

}  // namespace

WrongKernels::WrongKernels() {
  for (const Candidate& candidate : candidates())
    kernels_.push_back({.name = candidate.name, .needed = candidate.needed});
}

bool WrongKernels::try_on(const CloseLook& look, const Arithmetic& arithmetic, int threads) {
  const Trial trial{look, arithmetic, threads};
  rows_ += std::ssize(look.rows);
  if (look.rows.empty()) return false;
  bool vacuous = false;
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    WrongKernel& kernel = kernels_[i];
    if (i >= kVacuousCandidates && kernel.fate == WrongKernelFate::rejected) continue;
    const WrongRows wrong = candidates()[i].on(trial);
    if (!wrong.row && wrong.why_right.empty()) continue;
    const WrongKernelFate here = wrong.row ? fate_of(trial, wrong) : WrongKernelFate::right;
    vacuous = vacuous || (i < kVacuousCandidates && here == WrongKernelFate::accepted);
    if (here <= kernel.fate) continue;
    kernel.fate = here;
    kernel.reason = here == WrongKernelFate::right ? wrong.why_right : "within the bound";
  }
  return vacuous;
}

}  // namespace sdpa
