// How rows are estimated
//
// The errors of row_error.cpp are sums over the keys that a row sees. Of those that matter,
//
//   scores        N_t ((d_k + c) R_t^2 + kExp^2) V_td,   N_t = sum_j w_j^2,
//                 V_td = sum_j w_j (v_jd - o_d)^2,       R_t^2 = sum_i q_i^2 mean(k_i^2) / d_k
//   sums          (T_t + kConstant) (N_t V_td + 2 o_d^2),   T_t = the number of keys
//   weights       (u_w / u)^2 (N_t V_td + 2 o_d^2)   if they are stored in another type
//   exp           (eps / u)^2 V_td                   if a relative error is declared
//
// (squares, in units of u^2; c stands for declared roundings of factors and scores), attention gives
// V_td by values (v_jd - c_d)^2 in place of v_jd, and N_t by values r_j = +1 or -1 at random: the
// mean of (sum_j w_j r_j)^2 is N_t, and kSigns of them give it within some 25 %. A column of ones
// tells what a sink takes away, one of |k_j|^2 how the keys of the row are larger than those of
// others. This is plain arithmetic, and costs less than the exact result.
//
// What else is in row_error.cpp (structure in the order of keys, equal keys, terms that vanish in a
// sum) belongs to the head, or to a column, more than to the row: the close rows tell by which
// factor it makes their errors larger, and the largest such factor of a column is taken for all
// rows. The close rows are spread over all, and those of the largest and the smallest q, and of the
// most and the fewest keys, are among them.

#include "report/kernel_bound.h"

#include "attention/plain.h"
#include "report/error_model.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace sdpa {

namespace {

using error_model::kExp;
using error_model::square;
using textbook::Values;

constexpr std::size_t kSigns = 30;
constexpr std::size_t kOnes = kSigns, kSquares = kSigns + 1,
                      kMore = kSigns + 2;  // columns behind v
/// Rows between the close ones may be a little further off than these, the fewer they are.
double margin_of(std::size_t close_rows) {
  return close_rows < 8 ? 2.2 : 1.6;
}
constexpr double kConstant = 6;  // operations that do not grow with the number of keys

/// +1 or -1, the same in every run.
double sign_of(std::size_t j, std::size_t column) {
  std::uint64_t x = j * kSigns + column + 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return (x >> 62 & 1) != 0 ? 1 : -1;
}

double mean_of(const Values& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

Array plain_sums(std::span<const HeadRows> parts, Index rows, Index d_v, Precision precision,
                 int threads) {
  const Dtype dtype = precision == Precision::float32 ? Dtype::float32 : Dtype::float64;
  Attention sums = empty_results(rows, 0, d_v, dtype, false);
  plain_attention(parts, precision, threads, sums);
  return sums.output;
}

KernelBound::KernelBound(const Head& head, EmptyRows empty_rows, const Arithmetic& arithmetic,
                         int threads)
    : arithmetic_(arithmetic), look_(look_closely(head, arithmetic, threads)) {
  Index rows = head.n.T_q, empty = 0;
  for (Index t = 0; look_.survey && t < head.n.T_q; ++t) {
    rows -= look_.key_count(t) == 0;
    empty += look_.key_count(t) == 0 && !look_.is_behind(t);
  }
  if (empty != 0 && head.n.T_k != 0 && empty_rows == EmptyRows::mean)
    mean_error_ = errors_of_mean(head, arithmetic);
  if (look_.rows.empty() || std::ssize(look_.rows) == rows) return;
  prepare_columns();
  compare_estimates(threads);
}

std::vector<HeadRows> KernelBound::rows_to_sum(Index first, Index count, Index at) const {
  std::vector<HeadRows> parts;
  for (Index r = 0; sums_head_ && r < count; ++r) {
    const Index begin = r;
    while (r < count && look_.key_count(first + r) != 0) ++r;
    if (r > begin) parts.push_back({&*sums_head_, first + begin, r - begin, at + begin});
  }
  return parts;
}

/// Values for attention to sum, and the mean squares of k. Keys that no query sees are not read.
void KernelBound::prepare_columns() {
  const Head& head = look_.head;
  const auto T_k = static_cast<std::size_t>(head.n.T_k), d_v = static_cast<std::size_t>(head.n.d_v);
  const Values& weights = look_.mean_weights;
  Values v_j(d_v), k_j(static_cast<std::size_t>(head.n.d_k));
  const auto for_each_key = [&](auto use) {
    for (std::size_t j = 0; j < T_k; ++j)
      if (!look_.survey || look_.survey->is_seen(static_cast<Index>(j))) use(j);
  };
  const auto read_v = [&](std::size_t j) {
    head.v.read_rows(static_cast<Index>(j), 1, v_j.data());
  };
  const auto read_k = [&](std::size_t j) {
    head.k.read_rows(static_cast<Index>(j), 1, k_j.data());
  };

  centre_.assign(d_v, 0);
  unit_.assign(d_v, 0);
  key_squares_.assign(k_j.size(), 0);
  for_each_key([&](std::size_t j) {
    if (!(weights[j] > 0)) return;
    read_v(j);
    for (std::size_t d = 0; d < d_v; ++d) centre_[d] += weights[j] * v_j[d];
    read_k(j);
    for (std::size_t i = 0; i < k_j.size(); ++i)
      key_squares_[i] += weights[j] * square(head.score_scale_high * k_j[i]);
  });
  for_each_key([&](std::size_t j) {
    if (!(weights[j] > 0)) return;
    read_v(j);
    for (std::size_t d = 0; d < d_v; ++d) unit_[d] += weights[j] * square(v_j[d] - centre_[d]);
  });
  for (double& unit : unit_) unit = unit > 0 && unit < HUGE_VAL ? std::sqrt(unit) : 1;
  mean_key_square_ = mean_of(key_squares_);

  const bool in_float32 = look_.precision == Precision::float32;
  const double most = in_float32 ? 1e30 : 1e150;
  const auto at_most = [&](double value) { return value < most ? value : most; };
  const Dtype dtype = in_float32 ? Dtype::float32 : Dtype::float64;
  const Index width = head.n.d_v + Index{kMore};
  Array columns(Shape({head.n.T_k, width}), dtype);
  Values row(static_cast<std::size_t>(width));
  for_each_key([&](std::size_t j) {
    read_v(j);
    read_k(j);
    for (std::size_t d = 0; d < d_v; ++d)
      row[d] = at_most(square((v_j[d] - centre_[d]) / unit_[d]));
    for (std::size_t c = 0; c < kSigns; ++c) row[d_v + c] = sign_of(j, c);
    row[d_v + kOnes] = 1;
    double squares = 0;
    for (double k_ji : k_j) squares += square(head.score_scale_high * k_ji);
    const double relative = squares / static_cast<double>(k_j.size()) / mean_key_square_;
    row[d_v + kSquares] = mean_key_square_ > 0 ? at_most(relative) : 0;
    store_rounded(row.data(), width, dtype,
                  columns.mutable_data() + static_cast<Index>(j) * width * size_bytes(dtype));
  });
  sums_head_ = head;
  sums_head_->v = columns;
  sums_head_->n.d_v = width;
}

/// For row t, whose right output is o_t.
Values KernelBound::estimate(Index t, std::span<const double> o_t, const double* sums_t) const {
  const double u = unit_roundoff(arithmetic_.sums);
  const double of_product = arithmetic_.product_error() / u;
  const double of_scores = arithmetic_.scores ? unit_roundoff(*arithmetic_.scores) / u : 0;
  const double of_exp = arithmetic_.exp / u;
  const double u_w = std::max(unit_roundoff(arithmetic_.weights), arithmetic_.product_error());
  const double T_t = static_cast<double>(look_.key_count(t));
  const double of_sums = T_t + kConstant + (u_w > u ? square(u_w / u) : 0);

  const std::size_t d_v = centre_.size();
  Values q_t(key_squares_.size()), errors(d_v);
  look_.head.read_query(t, q_t.data());
  double products = 0, concentration = 0;
  for (std::size_t i = 0; i < q_t.size(); ++i) products += square(q_t[i]) * key_squares_[i];
  for (std::size_t c = 0; c < kSigns; ++c) concentration += square(sums_t[d_v + c]) / kSigns;
  products *= sums_t[d_v + kSquares];
  const double of_weights =
      concentration *
          ((static_cast<double>(q_t.size()) + 2 * square(of_product) + 4 * square(of_scores)) *
               products +
           square(kExp) + of_sums) +
      square(of_exp);
  const double all = sums_t[d_v + kOnes];
  for (std::size_t d = 0; d < d_v; ++d) {
    const double mean_square = square(unit_[d]) * sums_t[d], from_centre = o_t[d] - centre_[d];
    // The difference of two numbers of float32 is nothing below a millionth of them.
    const double spread = std::max(
        mean_square - 2 * from_centre * (o_t[d] - all * centre_[d]) + all * square(from_centre),
        1e-6 * mean_square);
    errors[d] =
        u * std::sqrt(of_weights * spread + (2 * of_sums + square(of_product)) * square(o_t[d]));
  }
  return errors;
}

/// The largest factor of a column between the close rows' errors and their estimates.
void KernelBound::compare_estimates(int threads) {
  const std::size_t d_v = centre_.size();
  std::vector<HeadRows> parts;
  for (const CloseRow& row : look_.rows)
    parts.push_back({&*sums_head_, row.t, 1, std::ssize(parts)});
  const Array sums =
      plain_sums(parts, std::ssize(parts), sums_head_->n.d_v, look_.precision, threads);
  factor_.assign(d_v, 0);
  Values sums_t(d_v + kMore);
  const double margin = margin_of(look_.rows.size());
  for (std::size_t r = 0; r < look_.rows.size(); ++r) {
    const CloseRow& row = look_.rows[r];
    MatrixView(sums).read_rows(static_cast<Index>(r), 1, sums_t.data());
    const Values estimated = estimate(row.t, row.output, sums_t.data());
    for (std::size_t d = 0; d < d_v; ++d) {
      if (!std::isfinite(row.output[d]) || !(estimated[d] > 0)) continue;
      factor_[d] = std::max(factor_[d], margin * row.error[d] / estimated[d]);
    }
  }
}

Values KernelBound::allowed(Index first, std::span<const double> o, const Array* sums) const {
  const std::size_t d_v = static_cast<std::size_t>(look_.head.n.d_v);
  const std::size_t rows = d_v == 0 ? 0 : o.size() / d_v;
  Values all(o.size(), HUGE_VAL), sums_t(d_v + kMore);
  auto close = std::ranges::lower_bound(look_.rows, first, {}, &CloseRow::t);
  for (std::size_t r = 0; r < rows; ++r) {
    const Index t = first + static_cast<Index>(r);
    const std::span<const double> o_t = o.subspan(r * d_v, d_v);
    Values errors;
    if (look_.key_count(t) == 0) {
      if (mean_error_.empty() || look_.is_behind(t)) {
        std::fill_n(all.begin() + static_cast<Index>(r * d_v), d_v, 0.0);
        continue;
      }
      errors = mean_error_;
    } else if (close != look_.rows.end() && close->t == t) {
      errors = close++->error;
    } else if (sums != nullptr) {
      MatrixView(*sums).read_rows(static_cast<Index>(r), 1, sums_t.data());
      errors = estimate(t, o_t, sums_t.data());
      for (std::size_t d = 0; d < d_v; ++d) errors[d] *= factor_[d];
    } else {
      continue;
    }
    std::ranges::copy(with_rounding(std::move(errors), o_t, arithmetic_),
                      all.begin() + static_cast<Index>(r * d_v));
  }
  return all;
}

}  // namespace sdpa
