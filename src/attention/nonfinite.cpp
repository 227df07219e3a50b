#include "attention/nonfinite.h"

#include "attention/infinite_scores.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

/// Which rows of a matrix are finite.
std::vector<char> finite_rows(const MatrixView& matrix) {
  std::vector<char> finite(static_cast<std::size_t>(matrix.rows()));
  for (Index r = 0; r < matrix.rows(); ++r)
    finite[static_cast<std::size_t>(r)] = matrix.rows_finite(r, 1);
  return finite;
}

bool all_true(const std::vector<char>& flags) {
  return std::ranges::all_of(flags, [](char flag) { return flag != 0; });
}

/// The matrix with zeros for what is not finite.
Array without_nonfinite(const MatrixView& matrix) {
  Array result(Shape({matrix.rows(), matrix.columns()}), matrix.dtype());
  const Index element = size_bytes(matrix.dtype());
  std::byte* to = result.mutable_data();
  for (Index r = 0; r < matrix.rows(); ++r)
    for (Index c = 0; c < matrix.columns(); ++c, to += element)
      if (std::isfinite(matrix.at(r, c)))
        std::memcpy(to, matrix.row(r) + c * element, static_cast<std::size_t>(element));
  return result;
}

void copy_row(const Array& from, Index from_row, Array& to, Index to_row) {
  const Index row_bytes = to.shape()[1] * size_bytes(to.dtype());
  std::memcpy(to.mutable_data() + to_row * row_bytes, from.data() + from_row * row_bytes,
              static_cast<std::size_t>(row_bytes));
}

class Nonfinite {
 public:
  Nonfinite(const Head& head, const FiniteAttention& of_finite, Attention& results)
      : head_(head),
        of_finite_(of_finite),
        q_finite_(finite_rows(head.q)),
        k_finite_(finite_rows(head.k)),
        v_finite_(finite_rows(head.v)),
        v_(all_true(v_finite_) ? head.v : MatrixView(without_nonfinite(head.v))),
        all_keys_(static_cast<std::size_t>(head.n.T_k)),
        results_(results) {
    std::iota(all_keys_.begin(), all_keys_.end(), Index{0});
    std::ranges::copy_if(all_keys_, std::back_inserter(nonfinite_keys_),
                         [this](Index j) { return k_finite_[static_cast<std::size_t>(j)] == 0; });
  }

  void run() {
    // No finite row gives a finite score to a key that is not finite: those that are not NaN give
    // -inf to the same keys.
    std::vector<Index> finite_rows;
    for (Index t = 0; t < head_.n.T_q; ++t) {
      const bool q_finite = q_finite_[static_cast<std::size_t>(t)] != 0;
      const std::optional<std::vector<Index>> hidden =
          hidden_keys(t, q_finite ? nonfinite_keys_ : all_keys_);
      if (!hidden || hidden->size() == all_keys_.size())
        fill_with_nan(t);
      else if (q_finite)
        finite_rows.push_back(t);
      else
        run_rows({t}, other_keys(*hidden));
    }
    if (!finite_rows.empty()) run_rows(finite_rows, other_keys(nonfinite_keys_));
  }

 private:
  /// Those of some keys that have the score -inf in row t; nothing if a score is NaN or +inf.
  std::optional<std::vector<Index>> hidden_keys(Index t, const std::vector<Index>& keys) const {
    std::vector<Index> hidden;
    for (Index j : keys) {
      const double s = score_class(t, j);
      if (std::isnan(s) || s > 0) return std::nullopt;
      if (s < 0) hidden.push_back(j);
    }
    return hidden;
  }

  std::vector<Index> other_keys(const std::vector<Index>& keys) const {
    std::vector<Index> others;
    std::ranges::set_difference(all_keys_, keys, std::back_inserter(others));
    return others;
  }

  /// 0 where the score of a key is a finite number, else what IEEE 754 makes of the sum of
  /// products. A finite product counts as finite even where float64 could not hold it.
  double score_class(Index t, Index j) const {
    if (q_finite_[static_cast<std::size_t>(t)] && k_finite_[static_cast<std::size_t>(j)]) return 0;
    return dot_class(head_, t, j);
  }

  void fill_with_nan(Index t) {
    const auto fill = [t](Array& matrix) {
      const std::vector<double> nans(static_cast<std::size_t>(matrix.shape()[1]), std::nan(""));
      store(matrix, t, 0, nans.data(), std::ssize(nans));
    };
    fill(results_.output);
    if (results_.weights) fill(*results_.weights);
  }

  /// Rows with finite scores for exactly these keys, and -inf for the others.
  void run_rows(const std::vector<Index>& rows, const std::vector<Index>& keys) {
    const bool every_key = std::ssize(keys) == head_.n.T_k;
    const Head finite = head_like(head_, gather_rows(head_.q, rows),
                                  every_key ? head_.k : MatrixView(gather_rows(head_.k, keys)),
                                  every_key ? v_ : MatrixView(gather_rows(v_, keys)));
    Attention part = empty_results(finite.n.T_q, finite.n.T_k, finite.n.d_v,
                                   results_.output.dtype(), results_.weights.has_value());
    of_finite_(finite, part);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      copy_row(part.output, static_cast<Index>(r), results_.output, rows[r]);
      if (results_.weights)
        for (std::size_t at = 0; at < keys.size(); ++at) {
          const double weight = part.weights->at(static_cast<Index>(r * keys.size() + at));
          store(*results_.weights, rows[r], keys[at], &weight, 1);
        }
    }
    if (!all_true(v_finite_)) add_nonfinite_values(rows, keys);
  }

  /// What a NaN or an infinity in v makes of its column: a weight is positive for `keys` and zero
  /// for the others.
  void add_nonfinite_values(const std::vector<Index>& rows, const std::vector<Index>& keys) {
    std::vector<double> weight_class(static_cast<std::size_t>(head_.n.T_k), 0);
    for (Index j : keys) weight_class[static_cast<std::size_t>(j)] = 1;
    for (Index d = 0; d < head_.n.d_v; ++d) {
      double sum = 0;
      for (Index j = 0; j < head_.n.T_k; ++j) {
        if (v_finite_[static_cast<std::size_t>(j)]) continue;
        const double value = head_.v.at(j, d);
        if (!std::isfinite(value)) sum += weight_class[static_cast<std::size_t>(j)] * value;
      }
      if (std::isfinite(sum)) continue;
      for (Index t : rows) store(results_.output, t, d, &sum, 1);
    }
  }

  const Head& head_;
  const FiniteAttention& of_finite_;
  const std::vector<char> q_finite_, k_finite_, v_finite_;
  const MatrixView v_;
  std::vector<Index> all_keys_, nonfinite_keys_;
  Attention& results_;
};

}  // namespace

void nonfinite_attention(const Head& head, const FiniteAttention& of_finite, Attention& results) {
  Nonfinite(head, of_finite, results).run();
}

}  // namespace sdpa
