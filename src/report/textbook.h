#pragma once

#include "attention/problem.h"

#include <optional>
#include <span>
#include <vector>

/// Attention as a textbook has it: plain loops in float64, a row of q at a time. For the few rows on
/// which a report looks closely, and for variants that nobody else computes.
namespace sdpa::textbook {

using Values = std::vector<double>;

/// All elements of a matrix, row after row.
Values values_of(const MatrixView& matrix);

/// The columns of a matrix one after the other, [columns][rows].
Values transposed(const MatrixView& matrix);

/// The keys that a query sees, and their values. A sink is the last of them: a key of zeros, whose
/// value is 0 and whose score a bias makes what it is.
struct Keys {
  Index T_k, d_k, d_v;
  double scale, softcap;  ///< of scores; no cap is infinite
  Values k_transposed;    ///< [d_k][T_k]
  Values v;               ///< [T_k][d_v]
  Values column_sizes;    ///< [d_v]  sum_j |v_jd|

  /// These runs of the keys of a head, which alone are read.
  Keys(const Head& head, std::span<const KeyRun> runs);
};

/// The score that a cap makes of a scaled product: C tanh(s/C), or s if C is infinite.
double capped(double s, double softcap);

/// Scores of one query.
///
/// q_t    [d_k]
/// bias   [T_k]   added to the scaled and capped products, or empty
/// s      [T_k]   overwritten
void scores(const double* q_t, const Keys& keys, const Values& bias, Values& s);

/// w[j] = exp(s[j]) / sum_j exp(s[j]). Returns the largest score; it is a NaN if one of them is.
double softmax(const Values& s, Values& w);

/// o_t[d] = sum_j w[j] * v[j][d]
///
/// v     [at least as many keys as w][d_v]
/// o_t   [d_v]   overwritten
void weighted_sum(const Values& w, const Values& v, Values& o_t);

/// sum_j w[j] * (x[j] - mean)^2 for weights that sum to one, mean = sum_j w[j] * x[j].
double variance(const Values& w, const double* x);

/// What the queries of a head see, one after the other.
class KeysOfQueries {
 public:
  explicit KeysOfQueries(const Head& head) : head_(head) {}

  /// Turns to query t. Keys that it shares with the query before are not gathered again.
  void look(Index t);

  /// Turns to these keys, with the bias that query t has for them.
  void look_at(std::vector<KeyRun> runs, Index t);

  /// Turns to all keys, without a bias.
  void look_at_all();

  bool is_empty() const { return runs_.empty(); }
  const std::vector<KeyRun>& runs() const { return runs_; }
  const Keys& keys() const { return *keys_; }          ///< not where there are none
  const Values& bias() const { return bias_; }         ///< [T_k], or empty
  bool has_new_keys() const { return has_new_keys_; }  ///< whether the last look gathered

 private:
  void gather(std::vector<KeyRun> runs);

  Head head_;
  std::vector<KeyRun> runs_;
  std::optional<Keys> keys_;
  Values bias_;
  bool has_new_keys_ = false;
};

}  // namespace sdpa::textbook
