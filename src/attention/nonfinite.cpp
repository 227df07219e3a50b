#include "attention/nonfinite.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace sdpa {

namespace {

/// Which rows of a matrix are finite.
std::vector<char> finite_rows(const Array& matrix) {
  const Index rows = matrix.shape()[0], columns = matrix.shape()[1];
  std::vector<char> finite(static_cast<std::size_t>(rows));
  for (Index r = 0; r < rows; ++r)
    finite[static_cast<std::size_t>(r)] = all_finite(matrix, r * columns, columns);
  return finite;
}

bool all_true(const std::vector<char>& flags) {
  return std::ranges::all_of(flags, [](char flag) { return flag != 0; });
}

/// The given rows of a matrix, copied.
Array gather_rows(const Array& matrix, const std::vector<Index>& rows) {
  Array result(Shape({std::ssize(rows), matrix.shape()[1]}), matrix.dtype());
  const Index row_bytes = matrix.shape()[1] * size_bytes(matrix.dtype());
  for (std::size_t r = 0; r < rows.size(); ++r)
    std::memcpy(result.mutable_data() + static_cast<Index>(r) * row_bytes,
                matrix.data() + rows[r] * row_bytes, static_cast<std::size_t>(row_bytes));
  return result;
}

/// The matrix with zeros for what is not finite.
Array without_nonfinite(const Array& matrix) {
  Array result(matrix.shape(), matrix.dtype());
  const Index element = size_bytes(matrix.dtype());
  for (Index i = 0; i < matrix.shape().element_count(); ++i)
    if (std::isfinite(matrix.at(i)))
      std::memcpy(result.mutable_data() + i * element, matrix.data() + i * element,
                  static_cast<std::size_t>(element));
  return result;
}

void store(Array& array, Index position, double value) {
  store_rounded(&value, 1, array.dtype(),
                array.mutable_data() + position * size_bytes(array.dtype()));
}

void copy_row(const Array& from, Index from_row, Array& to, Index to_row) {
  const Index row_bytes = to.shape()[1] * size_bytes(to.dtype());
  std::memcpy(to.mutable_data() + to_row * row_bytes, from.data() + from_row * row_bytes,
              static_cast<std::size_t>(row_bytes));
}

class Nonfinite {
 public:
  Nonfinite(const Head& head, Dtype dtype, bool weights,
            const std::function<Attention(const Head&)>& of_finite)
      : head_(head),
        of_finite_(of_finite),
        q_finite_(finite_rows(head.q)),
        k_finite_(finite_rows(head.k)),
        v_finite_(finite_rows(head.v)),
        v_(all_true(v_finite_) ? head.v : without_nonfinite(head.v)) {
    result_.output = Array(Shape({head.n.T_q, head.n.d_v}), dtype);
    if (weights) result_.weights = Array(Shape({head.n.T_q, head.n.T_k}), dtype);
  }

  Attention run() {
    std::vector<Index> ordinary;
    for (Index t = 0; t < head_.n.T_q; ++t) {
      if (q_finite_[static_cast<std::size_t>(t)] && all_true(k_finite_))
        ordinary.push_back(t);
      else
        run_single_row(t);
    }
    std::vector<Index> all_keys(static_cast<std::size_t>(head_.n.T_k));
    std::iota(all_keys.begin(), all_keys.end(), Index{0});
    run_rows(ordinary, all_keys);
    return std::move(result_);
  }

 private:
  /// A row that has scores which are not finite.
  void run_single_row(Index t) {
    std::vector<Index> keys;
    for (Index j = 0; j < head_.n.T_k; ++j) {
      const double s = score_class(t, j);
      if (std::isnan(s) || s > 0) return fill_with_nan(t);
      if (s == 0) keys.push_back(j);
    }
    if (keys.empty()) return fill_with_nan(t);
    run_rows({t}, keys);
  }

  /// 0 where the score of a key is a finite number, else what IEEE 754 makes of the sum of
  /// products. A finite product counts as finite even where float64 could not hold it.
  double score_class(Index t, Index j) const {
    if (q_finite_[static_cast<std::size_t>(t)] && k_finite_[static_cast<std::size_t>(j)]) return 0;
    double sum = 0;
    for (Index i = 0; i < head_.n.d_k; ++i) {
      const double x = head_.q.at(t * head_.n.d_k + i), y = head_.k.at(j * head_.n.d_k + i);
      if (!std::isfinite(x) || !std::isfinite(y)) sum += x * y;
    }
    return sum;
  }

  void fill_with_nan(Index t) {
    for (Index d = 0; d < head_.n.d_v; ++d)
      store(result_.output, t * head_.n.d_v + d, std::nan(""));
    if (result_.weights)
      for (Index j = 0; j < head_.n.T_k; ++j)
        store(*result_.weights, t * head_.n.T_k + j, std::nan(""));
  }

  /// Rows with finite scores for exactly these keys, and -inf for the others.
  void run_rows(const std::vector<Index>& rows, const std::vector<Index>& keys) {
    if (rows.empty()) return;
    const bool every_key = std::ssize(keys) == head_.n.T_k;
    const Attention part = of_finite_(make_head(gather_rows(head_.q, rows),
                                                every_key ? head_.k : gather_rows(head_.k, keys),
                                                every_key ? v_ : gather_rows(v_, keys)));
    for (std::size_t r = 0; r < rows.size(); ++r) {
      copy_row(part.output, static_cast<Index>(r), result_.output, rows[r]);
      if (result_.weights)
        for (std::size_t at = 0; at < keys.size(); ++at)
          store(*result_.weights, rows[r] * head_.n.T_k + keys[at],
                part.weights->at(static_cast<Index>(r * keys.size() + at)));
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
        const double value = head_.v.at(j * head_.n.d_v + d);
        if (!std::isfinite(value)) sum += weight_class[static_cast<std::size_t>(j)] * value;
      }
      if (std::isfinite(sum)) continue;
      for (Index t : rows) store(result_.output, t * head_.n.d_v + d, sum);
    }
  }

  const Head& head_;
  const std::function<Attention(const Head&)>& of_finite_;
  const std::vector<char> q_finite_, k_finite_, v_finite_;
  const Array v_;
  Attention result_;
};

}  // namespace

Attention nonfinite_attention(const Head& head, Dtype dtype, bool weights,
                              const std::function<Attention(const Head&)>& of_finite) {
  return Nonfinite(head, dtype, weights, of_finite).run();
}

}  // namespace sdpa
