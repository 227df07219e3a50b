// How rows are estimated
//
// The errors of row_error.cpp are sums over keys. Of those that matter,
//
//   scores        N_t (d_k R_t^2 + kExp^2) V_td,   N_t = sum_j w_j^2,   V_td = sum_j w_j (v_jd - o_d)^2,
//                 R_t^2 = sum_i q_i^2 mean(k_i^2) / d_k
//   sums          T_k (N_t V_td + 2 o_d^2)
//   weights       (u_w / u)^2 (N_t V_td + 2 o_d^2)   if they are stored in another type
//
// (squares, in units of u^2), attention gives V_td by values (v_jd - c_d)^2 in place of v_jd, and N_t
// by values r_j = +1 or -1 at random: the mean of (sum_j w_j r_j)^2 is N_t, and kSigns of them give
// it within some 25 %. This is plain arithmetic, and costs less than the exact result.
//
// What else is in row_error.cpp (structure in the order of keys, equal keys, terms that vanish in a
// sum) belongs to the head, or to a column, more than to the row: the close rows tell by which
// factor it makes their errors larger, and the largest such factor of a column is taken for all
// rows. The close rows are spread over all, and those of the largest and the smallest q are among
// them.

#include "report/kernel_bound.h"

#include "base/parallel.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace sdpa {

namespace {

using textbook::Values;

constexpr Index kFewestCloseRows = 8, kMostCloseRows = 16;
constexpr std::size_t kSigns = 32;
constexpr double kExp = 4;       // as in row_error.cpp
constexpr double kMargin = 1.5;  // rows between the close ones may be a little further off

double square(double x) {
  return x * x;
}

/// Errors with what a kernel adds to them when it stores the results o.
Values with_rounding(Values errors, std::span<const double> o, Dtype output) {
  for (std::size_t at = 0; at < o.size(); ++at) {
    const double all = errors[at] + ulp(std::fabs(o[at]) + errors[at], output) / 2;
    errors[at] = all < HUGE_VAL ? all : HUGE_VAL;
  }
  return errors;
}

/// sqrt(sum_i x_i^2) of each row; not finite if an element is not.
Values row_norms(const MatrixView& matrix) {
  Values norms, row(static_cast<std::size_t>(matrix.columns()));
  for (Index t = 0; t < matrix.rows(); ++t) {
    matrix.read_rows(t, 1, row.data());
    double sum = 0;
    for (double x : row) sum += x * x;
    norms.push_back(std::sqrt(sum));
  }
  return norms;
}

/// Rows to look at closely, in ascending order: finite ones, as far as there are any.
std::vector<Index> rows_to_look_at(const Values& q_norms) {
  const auto T_q = static_cast<Index>(q_norms.size());
  const Index count = std::clamp(T_q / 128, kFewestCloseRows, kMostCloseRows);
  std::vector<Index> rows;
  for (std::size_t t = 0; t < q_norms.size(); ++t)
    if (std::isfinite(q_norms[t])) rows.push_back(static_cast<Index>(t));
  const auto finite = static_cast<Index>(rows.size());
  if (finite <= count) return rows;
  const auto [smallest, largest] = std::ranges::minmax_element(
      rows, {}, [&](Index t) { return q_norms[static_cast<std::size_t>(t)]; });
  std::vector<Index> some = {*smallest, *largest};
  // Not at equal distances: those of blocks would meet the same place of each.
  for (Index i = 0; i < count - 2; ++i) {
    const Index row = i * finite / (count - 2) + i * 7919 % (finite / (count - 2));
    some.push_back(rows[static_cast<std::size_t>(row)]);
  }
  std::ranges::sort(some);
  some.erase(std::unique(some.begin(), some.end()), some.end());
  return some;
}

/// +1 or -1, the same in every run.
double sign_of(std::size_t j, std::size_t column) {
  std::uint64_t x = j * kSigns + column + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return (x >> 62 & 1) != 0 ? 1 : -1;
}

/// The given rows as one matrix.
Array gathered(const MatrixView& matrix, const std::vector<CloseRow>& rows) {
  Array array(Shape({std::ssize(rows), matrix.columns()}), Dtype::float64);
  Index at = 0;
  for (const CloseRow& row : rows) {
    const Values values = textbook::values_of(matrix.part(row.t, 1));
    std::memcpy(array.mutable_data() + at, values.data(), 8 * values.size());
    at += 8 * matrix.columns();
  }
  return array;
}

}  // namespace

KernelBound::KernelBound(const Array& q, const Array& k, const Array& v,
                         const Arithmetic& arithmetic, int threads)
    : q_(q), k_(k), arithmetic_(arithmetic), threads_(threads), look_{textbook::Head(k, v), {}} {
  const Values q_norms = row_norms(q);
  const Values mean_weights = look_closely(rows_to_look_at(q_norms));
  if (look_.rows.empty()) return;
  // float32 serves where it holds the scores to about a hundredth, and the keys.
  const double largest_k = std::ranges::max(row_norms(k));
  const double score_error = std::ranges::max(q_norms) * largest_k * 0x1p-24;
  if (!(score_error < 0x1p-6 && largest_k < 0x1p60)) look_.precision = Precision::float64;
  if (std::ssize(look_.rows) == q.shape()[0]) return;
  prepare_columns(mean_weights);
  compare_estimates();
}

Values KernelBound::look_closely(const std::vector<Index>& rows) {
  const EqualKeys equal(look_.head);
  look_.rows.resize(rows.size());
  std::vector<Values> weights(rows.size());
  constexpr std::size_t kRowsOfATask = 4;
  const std::size_t tasks = (rows.size() + kRowsOfATask - 1) / kRowsOfATask;
  parallel_for(threads_, static_cast<Index>(tasks), [&](Index task) {
    RowError row(look_.head, equal, arithmetic_);
    const std::size_t first = static_cast<std::size_t>(task) * kRowsOfATask;
    for (std::size_t r = first; r < std::min(rows.size(), first + kRowsOfATask); ++r) {
      row.compute(textbook::values_of(MatrixView(q_).part(rows[r], 1)).data());
      look_.rows[r] = {rows[r], row.output(), row.error(),
                       with_rounding(row.error(), row.output(), arithmetic_.output)};
      weights[r] = row.weights();
    }
  });
  Values mean_weights(static_cast<std::size_t>(look_.head.T_k));
  for (const Values& w : weights)
    for (std::size_t j = 0; j < w.size(); ++j)
      if (w[j] > 0) mean_weights[j] += w[j] / static_cast<double>(weights.size());
  return mean_weights;
}

/// Values for attention to sum, and the mean squares of k.
void KernelBound::prepare_columns(const Values& mean_weights) {
  const std::size_t T_k = mean_weights.size(), d_v = static_cast<std::size_t>(look_.head.d_v);
  centre_.resize(d_v);
  unit_.resize(d_v);
  const auto for_each_value = [&](auto use) {
    for (std::size_t j = 0; j < T_k; ++j)
      for (std::size_t d = 0; d < d_v; ++d) use(j, d, look_.head.v[j * d_v + d]);
  };
  const auto seen = [&](std::size_t j) { return mean_weights[j] > 0; };
  for_each_value([&](std::size_t j, std::size_t d, double v_jd) {
    if (seen(j)) centre_[d] += mean_weights[j] * v_jd;
  });
  for_each_value([&](std::size_t j, std::size_t d, double v_jd) {
    if (seen(j)) unit_[d] += mean_weights[j] * square(v_jd - centre_[d]);
  });
  for (double& unit : unit_) unit = unit > 0 && unit < HUGE_VAL ? std::sqrt(unit) : 1;

  const bool in_float32 = look_.precision == Precision::float32;
  const double most = in_float32 ? 1e30 : 1e150;
  const std::size_t width = d_v + kSigns;
  Values values(T_k * width);
  for_each_value([&](std::size_t j, std::size_t d, double v_jd) {
    const double deviation = square((v_jd - centre_[d]) / unit_[d]);
    values[j * width + d] = deviation < most ? deviation : most;
  });
  for (std::size_t j = 0; j < T_k; ++j)
    for (std::size_t c = 0; c < kSigns; ++c) values[j * width + d_v + c] = sign_of(j, c);
  columns_ = Array(Shape({look_.head.T_k, look_.head.d_v + Index{kSigns}}),
                   in_float32 ? Dtype::float32 : Dtype::float64);
  store_rounded(values.data(), std::ssize(values), columns_.dtype(), columns_.mutable_data());

  for (Index i = 0; i < look_.head.d_k; ++i) {
    const double* k_i = look_.head.k_transposed.data() + i * look_.head.T_k;
    double sum = 0;
    for (std::size_t j = 0; j < T_k; ++j)
      if (seen(j)) sum += mean_weights[j] * square(k_i[j]);
    key_squares_.push_back(square(look_.head.scale) * sum);
  }
}

/// Estimates for some rows of q, whose right outputs are o [rows][d_v].
Values KernelBound::estimates(const Array& q, std::span<const double> o) const {
  const Settings plainly{
      .precision = look_.precision, .dtype = columns_.dtype(), .threads = threads_};
  const Array sums = attention(q, k_, columns_, plainly).output;
  const double u = unit_roundoff(arithmetic_.accumulate);
  const double u_w = unit_roundoff(arithmetic_.weights);
  const double T_k = static_cast<double>(k_.shape()[0]), d_k = static_cast<double>(q.shape()[1]);
  const double of_sums = T_k + (u_w > u ? square(u_w / u) : 0);

  const std::size_t d_v = centre_.size();
  Values errors(o.size()), q_t(key_squares_.size()), sums_t(d_v + kSigns);
  for (Index r = 0; r < q.shape()[0]; ++r) {
    MatrixView(q).read_rows(r, 1, q_t.data());
    MatrixView(sums).read_rows(r, 1, sums_t.data());
    double products = 0, concentration = 0;
    for (std::size_t i = 0; i < q_t.size(); ++i) products += square(q_t[i]) * key_squares_[i];
    for (std::size_t c = 0; c < kSigns; ++c) concentration += square(sums_t[d_v + c]) / kSigns;
    const double of_weights = concentration * (d_k * products + square(kExp) + of_sums);
    const double* o_t = o.data() + static_cast<std::size_t>(r) * d_v;
    double* errors_t = errors.data() + static_cast<std::size_t>(r) * d_v;
    for (std::size_t d = 0; d < d_v; ++d) {
      const double mean_square = square(unit_[d]) * sums_t[d];
      // The difference of two numbers of float32 is nothing below a millionth of them.
      const double spread = std::max(mean_square - square(o_t[d] - centre_[d]), 1e-6 * mean_square);
      errors_t[d] = u * std::sqrt(of_weights * spread + 2 * of_sums * square(o_t[d]));
    }
  }
  return errors;
}

/// The largest factor of a column between the close rows' errors and their estimates.
void KernelBound::compare_estimates() {
  const std::size_t d_v = centre_.size();
  Values o;
  for (const CloseRow& row : look_.rows) o.insert(o.end(), row.output.begin(), row.output.end());
  const Values estimated = estimates(gathered(q_, look_.rows), o);
  factor_.assign(d_v, 0);
  for (std::size_t r = 0; r < look_.rows.size(); ++r)
    for (std::size_t d = 0; d < d_v; ++d) {
      const double estimate = estimated[r * d_v + d];
      if (!std::isfinite(look_.rows[r].output[d]) || !(estimate > 0)) continue;
      factor_[d] = std::max(factor_[d], kMargin * look_.rows[r].error[d] / estimate);
    }
}

Values KernelBound::allowed(Index first, std::span<const double> o) const {
  const Index d_v = look_.head.d_v;
  const Index rows = d_v == 0 ? 0 : std::ssize(o) / d_v;
  Values errors(o.size(), HUGE_VAL);
  if (!factor_.empty()) {
    errors = estimates(q_.rows(first, rows), o);
    for (std::size_t at = 0; at < errors.size(); ++at) errors[at] *= factor_[at % factor_.size()];
  }
  for (const CloseRow& row : look_.rows)
    if (row.t >= first && row.t < first + rows)
      std::ranges::copy(row.error, errors.begin() + (row.t - first) * d_v);
  return with_rounding(std::move(errors), o, arithmetic_.output);
}

}  // namespace sdpa
