#include "attention/masked_nonfinite.h"

#include "attention/infinite_scores.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace sdpa {

namespace {

/// Which rows of a matrix are finite; true of rows that are not to be read.
std::vector<char> finite_rows(const MatrixView& matrix, std::span<const KeyRun> runs) {
  std::vector<char> finite(static_cast<std::size_t>(matrix.rows()), 1);
  for (const KeyRun& run : runs)
    for (Index r = run.first; r < run.end; ++r)
      finite[static_cast<std::size_t>(r)] = matrix.rows_finite(r, 1);
  return finite;
}

bool all_true(const std::vector<char>& flags) {
  return std::ranges::all_of(flags, [](char flag) { return flag != 0; });
}

/// The matrix with zeros for what is not finite, and for rows that are not to be read.
Array without_nonfinite(const MatrixView& matrix, std::span<const KeyRun> runs) {
  Array result(Shape({matrix.rows(), matrix.columns()}), matrix.dtype());
  const Index element = size_bytes(matrix.dtype()), row_bytes = matrix.columns() * element;
  for (const KeyRun& run : runs)
    for (Index r = run.first; r < run.end; ++r) {
      std::byte* to = result.mutable_data() + r * row_bytes;
      for (Index c = 0; c < matrix.columns(); ++c, to += element)
        if (std::isfinite(matrix.at(r, c)))
          std::memcpy(to, matrix.row(r) + c * element, static_cast<std::size_t>(element));
    }
  return result;
}

void copy_row(const Array& from, Index from_row, Array& to, Index to_row) {
  const Index row_bytes = to.shape()[1] * size_bytes(to.dtype());
  std::memcpy(to.mutable_data() + to_row * row_bytes, from.data() + from_row * row_bytes,
              static_cast<std::size_t>(row_bytes));
}

class MaskedNonfinite {
 public:
  MaskedNonfinite(const Head& head, const FiniteAttention& of_finite, Attention& results)
      : head_(head),
        of_finite_(of_finite),
        survey_(survey(head.visible, head.n.T_q, head.n.T_k, 1)),
        seen_(survey_.seen_runs(0, head.n.T_k)),
        k_finite_(finite_rows(head.k, seen_)),
        v_finite_(finite_rows(head.v, seen_)),
        all_k_finite_(all_true(k_finite_)),
        all_v_finite_(all_true(v_finite_)),
        results_(results) {
    // Hidden keys do no harm to a row but by their values: a weight of 0 times NaN.
    finite_ = head;
    if (!all_k_finite_) finite_.k = MatrixView(without_nonfinite(head.k, seen_));
    if (!all_v_finite_) finite_.v = MatrixView(without_nonfinite(head.v, seen_));
  }

  void run() {
    Index first = 0;  // of rows with finite scores that have not been run
    for (Index t = 0; t <= head_.n.T_q; ++t) {
      if (t < head_.n.T_q && has_finite_scores(t)) continue;
      run_rows(first, t - first);
      first = t + 1;
      if (t < head_.n.T_q) run_single_row(t);
    }
  }

 private:
  /// Of a row that sees no key there is nothing else.
  bool has_finite_scores(Index t) const {
    if (survey_.counts[static_cast<std::size_t>(t)] == 0) return true;
    if (!head_.q.rows_finite(t, 1) || !(head_.sink < HUGE_VAL)) return false;
    if (all_k_finite_ && !head_.visible.bias) return true;
    return std::ranges::all_of(head_.visible.keys(t, head_.n.T_k), [&](Index j) {
      return k_finite_[static_cast<std::size_t>(j)] != 0 && std::isfinite(bias(t, j));
    });
  }

  double bias(Index t, Index j) const {
    const std::optional<Plane>& plane = head_.visible.bias;
    return plane ? plane->array.at(plane->position(t, j)) : 0;
  }

  /// A row that has scores which are not finite.
  void run_single_row(Index t) {
    if (results_.weights) {  // of other keys than those that follow
      const std::vector<double> zeros(static_cast<std::size_t>(head_.n.T_k));
      store(*results_.weights, t, 0, zeros.data(), head_.n.T_k);
    }
    std::vector<Index> keys, without_weight;
    for (Index j : head_.visible.keys(t, head_.n.T_k)) {
      const double s = score_class(t, j);
      if (std::isnan(s) || s > 0) return fill_with_nan(t);
      (s == 0 ? keys : without_weight).push_back(j);
    }
    if (!(head_.sink < HUGE_VAL) || (keys.empty() && !head_.has_sink())) return fill_with_nan(t);
    if (keys.empty())
      fill_with_zeros(t);
    else
      run_gathered(t, keys);
    add_nonfinite_values(t, keys, without_weight);
  }

  /// 0 where the score of a key is a finite number, else what IEEE 754 makes of it. A cap makes finite
  /// scores of infinite ones.
  double score_class(Index t, Index j) const {
    const double added = std::isfinite(bias(t, j)) ? 0 : bias(t, j), dot = dot_of(t, j);
    return (head_.has_softcap() && !std::isnan(dot) ? 0 : dot) + added;
  }

  double dot_of(Index t, Index j) const {
    const bool is_finite = head_.q.rows_finite(t, 1) && k_finite_[static_cast<std::size_t>(j)] != 0;
    return is_finite ? 0 : dot_class(head_, t, j);
  }

  void fill_with_zeros(Index t) {
    const std::vector<double> zeros(static_cast<std::size_t>(head_.n.d_v));
    store(results_.output, t, 0, zeros.data(), head_.n.d_v);
  }

  void fill_with_nan(Index t) {
    const auto fill = [t](Array& matrix) {
      const std::vector<double> nans(static_cast<std::size_t>(matrix.shape()[1]), std::nan(""));
      store(matrix, t, 0, nans.data(), std::ssize(nans));
    };
    fill(results_.output);
    if (!results_.weights) return;
    for (Index j : head_.visible.keys(t, head_.n.T_k)) {
      const double nan = std::nan("");
      store(*results_.weights, t, j, &nan, 1);
    }
  }

  /// Rows with finite scores.
  void run_rows(Index first, Index count) {
    if (count == 0) return;
    Head rows = finite_;
    rows.q = head_.q.part(first, count);
    rows.n.T_q = count;
    rows.visible = head_.visible.from_query(first);
    Attention part = rows_of(results_, first, count);
    of_finite_(rows, part);
    if (all_v_finite_) return;
    for (Index t = first; t < first + count; ++t)
      add_nonfinite_values(t, head_.visible.keys(t, head_.n.T_k), {});
  }

  /// One row, of which exactly these keys have finite scores and the others none.
  void run_gathered(Index t, const std::vector<Index>& keys) {
    const auto [q, k] = head_.has_softcap()
                            ? capped_operands(head_, t, keys)
                            : std::pair(head_.q.part(t, 1).array(), gather_rows(finite_.k, keys));
    Head row = head_like(head_, q, k, MatrixView(gather_rows(finite_.v, keys)));
    if (head_.visible.bias) {
      Array of_keys(Shape({std::ssize(keys)}), Dtype::float64);
      for (std::size_t at = 0; at < keys.size(); ++at) {
        const double value = bias(t, keys[at]);
        std::memcpy(of_keys.mutable_data() + at * sizeof value, &value, sizeof value);
      }
      row.visible.bias = Plane{of_keys, 0, 0, 1};
    }
    Attention part = empty_results(1, row.n.T_k, row.n.d_v, results_.output.dtype(),
                                   results_.weights.has_value());
    of_finite_(row, part);
    copy_row(part.output, 0, results_.output, t);
    if (!results_.weights) return;
    for (std::size_t at = 0; at < keys.size(); ++at) {
      const double weight = part.weights->at(static_cast<Index>(at));
      store(*results_.weights, t, keys[at], &weight, 1);
    }
  }

  /// What a NaN or an infinity in v makes of its column: a weight is positive for `keys`, and zero
  /// for those without weight.
  void add_nonfinite_values(Index t, const std::vector<Index>& keys,
                            const std::vector<Index>& without_weight) {
    if (all_v_finite_) return;
    std::vector<double> sums(static_cast<std::size_t>(head_.n.d_v));
    const auto add = [&](const std::vector<Index>& of_keys, double weight_class) {
      for (Index j : of_keys) {
        if (v_finite_[static_cast<std::size_t>(j)] != 0) continue;
        for (Index d = 0; d < head_.n.d_v; ++d) {
          const double value = head_.v.at(j, d);
          if (!std::isfinite(value)) sums[static_cast<std::size_t>(d)] += weight_class * value;
        }
      }
    };
    add(keys, 1);
    add(without_weight, 0);
    for (Index d = 0; d < head_.n.d_v; ++d) {
      const double sum = sums[static_cast<std::size_t>(d)];
      if (!std::isfinite(sum)) store(results_.output, t, d, &sum, 1);
    }
  }

  const Head& head_;
  const FiniteAttention& of_finite_;
  const Survey survey_;
  const std::vector<KeyRun> seen_;
  const std::vector<char> k_finite_, v_finite_;
  const bool all_k_finite_, all_v_finite_;
  Head finite_;  // without what is not finite in k and v
  Attention& results_;
};

}  // namespace

void masked_nonfinite_attention(const Head& head, const FiniteAttention& of_finite,
                                Attention& results) {
  MaskedNonfinite(head, of_finite, results).run();
}

}  // namespace sdpa
