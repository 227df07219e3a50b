#include "report/fault_search.h"

#include "report/suspects.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sdpa {

namespace {

using textbook::Values;

/// What rows of a kernel with another scale differ by from the output, in units of what a right one
/// may.
class ScaleResidual {
 public:
  ScaleResidual(const Examiner& examiner, std::vector<const WitnessRow*> rows, Index columns)
      : examiner_(examiner), rows_(std::move(rows)), columns_(columns) {}

  Values operator()(double scale) const {
    KernelVariant variant;
    variant.scale = scale;
    Values all;
    for (const WitnessRow* row : rows_) {
      const RowTerms terms = examiner_.rows().terms(variant, row->head, row->t);
      const VariantRow given = examiner_.rows().row(variant, terms, columns_);
      for (std::size_t d = 0; d < given.o.size(); ++d)
        all.push_back((given.o[d] - row->actual[d]) / row->allowed[d]);
    }
    return all;
  }

 private:
  const Examiner& examiner_;
  std::vector<const WitnessRow*> rows_;
  Index columns_;
};

double squared(const Values& x) {
  const double sum = std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
  return std::isfinite(sum) ? sum : HUGE_VAL;
}

/// A scale, and how far it may be off.
struct FittedScale {
  double scale, slack;
};

/// Gauss and Newton's iteration, by halves of its step where that is too long.
FittedScale refined(const ScaleResidual& residual, double scale) {
  constexpr int kSteps = 40;
  constexpr double kRelativeStep = 1e-6;
  Values r = residual(scale);
  double slopes = 0;
  for (int step = 0; step < kSteps; ++step) {
    const double h = kRelativeStep * scale;
    Values slope = residual(scale + h);
    for (std::size_t i = 0; i < r.size(); ++i) slope[i] = (slope[i] - r[i]) / h;
    slopes = squared(slope);
    double change = -std::inner_product(r.begin(), r.end(), slope.begin(), 0.0) / slopes;
    if (!std::isfinite(change)) break;
    const double before = squared(r);
    bool is_better = false;
    for (int half = 0; half < 8 && !is_better; ++half, change /= 2) {
      const Values next = residual(scale + change);
      if (!(squared(next) < before)) continue;
      r = next;
      scale += change;
      is_better = true;
    }
    if (!is_better || std::fabs(change) < 1e-9 * std::fabs(scale)) break;
  }
  // What remains is at most 1, about half of that in the mean: four of its standard deviations.
  return {scale, 2 / std::sqrt(slopes) / std::fabs(scale)};
}

}  // namespace

std::vector<Suspect> suspected_scales(const Examiner& examiner) {
  constexpr std::size_t kRows = 4, kFineRows = 16, kStarts = 4;
  constexpr Index kColumns = 8;
  const auto rows = examiner.comparable(kFineRows);
  if (rows.empty()) return {};
  const std::vector<const WitnessRow*> few(
      rows.begin(), rows.begin() + static_cast<Index>(std::min(kRows, rows.size())));
  const Index d_v = std::ssize(rows[0]->actual);
  const ScaleResidual coarse(examiner, few, kColumns), fine(examiner, few, d_v),
      finest(examiner, rows, d_v);
  const double right = examiner.judged().scale != 0
                           ? std::fabs(examiner.judged().scale)
                           : 1 / std::sqrt(static_cast<double>(examiner.judged().problem.n.d_k));
  std::vector<std::pair<double, double>> starts, found;
  for (int step = -40; step <= 40; ++step)
    for (const double sign : {1.0, -1.0}) {
      const double scale = sign * right * std::exp2(0.25 * step);
      starts.emplace_back(squared(coarse(scale)), scale);
    }
  std::ranges::sort(starts);
  for (std::size_t i = 0; i < kStarts; ++i) {
    const double scale = refined(fine, starts[i].second).scale;
    found.emplace_back(squared(fine(scale)), scale);
  }
  std::ranges::sort(found);
  const FittedScale fitted = refined(finest, found[0].second);
  Suspect suspect = scale_suspect(fitted.scale, "");
  suspect.variant.scale_slack = fitted.slack;
  suspect.tried = 30;
  return {suspect};
}

namespace {

/// The factor, and how far it may be off, relatively.
std::pair<double, double> fitted_factor(const Examiner& examiner) {
  double products = 0, squares = 0;
  for (const WitnessRow* row : examiner.comparable(examiner.wrong().size()))
    for (std::size_t d = 0; d < row->actual.size(); ++d) {
      const double weight = 1 / (row->allowed[d] * row->allowed[d]);
      products += weight * row->actual[d] * row->right.o[d];
      squares += weight * row->right.o[d] * row->right.o[d];
    }
  const double factor = squares == 0 ? std::nan("") : products / squares;
  return {factor, 2 / std::sqrt(squares)};
}

}  // namespace

double nearest_factor(const Examiner& examiner) {
  return fitted_factor(examiner).first;
}

std::vector<Suspect> suspected_factors(const Examiner& examiner) {
  const auto [fitted, slack] = fitted_factor(examiner);
  if (!std::isfinite(fitted)) return {};
  std::vector<Suspect> list;
  const auto add = [&](double factor, double uncertain, double tried) {
    KernelVariant variant;
    variant.factor = factor;
    variant.factor_slack = uncertain;
    list.push_back(
        {"factor", factor, "the right output times " + number_text(factor), variant, tried});
  };
  // A rounder number near it first.
  for (const double unit : {1.0, 0.5, 0.25, 0.1, 0.01, 0.001})
    add(std::nearbyint(fitted / unit) * unit, 0, 10);
  add(fitted, slack, 30);
  return list;
}

std::vector<Suspect> suspected_padding(const Examiner& examiner) {
  // o (sum + n x) = a v, with x the exponential of score 0.
  double products = 0, squares = 0;
  for (const WitnessRow* row : examiner.comparable(16)) {
    const RowTerms terms = examiner.rows().terms({}, row->head, row->t);
    const double x = std::exp(-terms.largest) / terms.sum;
    for (std::size_t d = 0; d < row->actual.size(); ++d) {
      const double slope = row->actual[d] * x / row->allowed[d];
      products += slope * (row->right.o[d] - row->actual[d]) / row->allowed[d];
      squares += slope * slope;
    }
  }
  const double fitted = std::nearbyint(products / squares);
  constexpr double kMost = 1e6;
  if (!(fitted >= 1 && fitted <= kMost)) return {};
  std::vector<Suspect> list;
  for (const Index off : {0, -1, 1, -2, 2})
    if (static_cast<Index>(fitted) + off > 0)
      list.push_back(padding_suspect(static_cast<Index>(fitted) + off));
  return list;
}

std::vector<Suspect> suspected_rows(const Examiner& examiner) {
  constexpr Index kMostProducts = Index{1} << 28;
  if (examiner.wrong().empty()) return {};
  const WitnessRow& row = examiner.wrong().front();
  const Extents n = examiner.judged().problem.head(row.head).n;
  if (n.T_q * n.T_k * n.d_k > kMostProducts) return {};
  std::vector<Suspect> list;
  for (Index t = 0; t < n.T_q; ++t) {
    KernelVariant of_t;
    of_t.source = [t](Index head, Index) { return RowSource::own(head, t); };
    if (t == row.t || !examiner.agrees(of_t, row)) continue;
    list.push_back(rows_suspect(examiner.judged(), row.t - t, false));
    const Index n_round = row.t - t;
    for (const Index shift : {n_round, n_round + n.T_q, n_round - n.T_q})
      if (2 * shift <= n.T_q && -2 * shift < n.T_q)
        list.push_back(rows_suspect(examiner.judged(), shift, true));
  }
  return list;
}

}  // namespace sdpa
