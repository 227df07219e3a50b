#pragma once

#include "exact/big_float.h"
#include "exact/common_mean.h"
#include "exact/exact_sum.h"
#include "stage/head.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// Where scores are capped, exponents are no algebraic numbers, and no theorem says that a result is
/// decided: these are the digits to which it is tried. Error, with the word `undecided`, behind them.
inline constexpr mpfr_prec_t kLargestCappedPrecision = 20000;
[[noreturn]] void throw_undecided();

/// The scores of one row of queries as real numbers: which are equal, which are larger, and how far
/// they are apart, to any precision. Operands are finite.
///
/// Keys go by their position in the list of those that the row sees. If the head has a sink, it is one
/// more position behind them.
class RealScores {
 public:
  /// Scores of row t of q and these keys, at least one, with their biases, if the head has some. The
  /// head must outlive this. Throws Error where a capped score is too close to a bias or a sink.
  RealScores(const Head& head, Index t, std::span<const Index> keys);

  /// Positions by descending score.
  std::span<const Index> order() const { return order_; }
  /// Whether all scores are algebraic numbers.
  bool are_algebraic() const { return !head_.has_softcap(); }
  /// Those whose scores are equal, by descending score.
  std::span<const KeyGroup> groups() const { return groups_; }
  /// The group of a position.
  std::size_t group_of(Index position) const {
    return group_of_[static_cast<std::size_t>(position)];
  }

  /// The largest score, to the precision of `score`, and how far that is off at most.
  void first(mpfr_ptr score, mpfr_ptr error);

  /// At most how far the score of group g lies below that of group `above`, where g >= above.
  double least_gap(std::size_t above, std::size_t g) const;

  /// Score of group g minus that of group `above`. Three roundings to the precision of `difference`
  /// are what it is off by.
  void difference(mpfr_ptr difference, std::size_t above, std::size_t g);

 private:
  void group_positions();
  Index count() const { return std::ssize(keys_) + (head_.has_sink() ? 1 : 0); }
  double bias_of(Index position) const;
  void read_key(Index position, double* k_j) const;
  double least_capped_gap(std::size_t a, std::size_t b) const;
  int compare(Index a, Index b);
  int compare_dots(Index a, Index b);
  void dot_difference(mpfr_ptr difference, Index a, Index b);
  void score_difference(mpfr_ptr difference, Index a, Index b);
  void capped_difference(mpfr_ptr difference, Index a, Index b);
  void biased_difference(mpfr_ptr difference, Index a, Index b);
  BigFloat rational_difference(Index a, Index b);
  const BigFloat& scale(mpfr_prec_t precision);
  const BigFloat& big_dot_of(Index position);
  Index first_of(std::size_t g) const { return order_[static_cast<std::size_t>(groups_[g].begin)]; }

  const Head& head_;
  const Index t_;
  std::span<const Index> keys_;
  // Where there are biases or a sink, but no cap: the root of scale.root if that is an integer, else 0.
  // If the factor is 1,
  // it is one more feature of q_t, and a bias one of its key.
  double root_ = 0;
  bool has_bias_feature_ = false;
  std::vector<double> biases_;  // of the keys, where they are no feature
  std::vector<double> q_t_;
  std::vector<ExactSum> dots_;                     // of q_t and each key
  std::vector<std::optional<BigFloat>> big_dots_;  // the same exactly, where it was asked for
  std::vector<Index> order_;
  std::vector<KeyGroup> groups_;
  std::vector<std::size_t> group_of_;
  BigFloat scale_{MPFR_PREC_MIN};  // c
};

}  // namespace sdpa
