#include "oracle/mpfr.h"

#include "oracle/big.h"
#include "oracle/matrix.h"
#include "oracle/rounding.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sdpa::oracle {

namespace {

Big exact_sum(std::vector<Big>& terms) {
  std::vector<mpfr_ptr> pointers(terms.begin(), terms.end());
  return exact(
      [&](mpfr_ptr r) { return mpfr_sum(r, pointers.data(), pointers.size(), MPFR_RNDN); });
}

Big exact_dot(const double* a, const double* b, Index n) {
  std::vector<Big> products;
  products.reserve(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    mpfr_set_d(products.emplace_back(106), a[i], MPFR_RNDN);
    mpfr_mul_d(products.back(), products.back(), b[i], MPFR_RNDN);  // 53 + 53 bits: exact
  }
  return exact_sum(products);
}

/// How dot products are scaled and capped, with the root filled in.
struct Rule {
  double factor;
  unsigned long root;
  unsigned long whole_root;  ///< of `root` if it is a square and scores are not capped, else 0
  std::optional<double> softcap;
};

Rule rule_of(const Scoring& scoring, Index d_k) {
  Rule rule{scoring.factor, static_cast<unsigned long>(scoring.root == 0 ? d_k : scoring.root), 0,
            scoring.softcap};
  unsigned long root = 1;
  while (root * root < rule.root) ++root;
  if (root * root == rule.root && !rule.softcap) rule.whole_root = root;
  return rule;
}

/// A score, dot / sqrt(root) + bias, where the factor is part of the dot product; or C tanh(dot /
/// (sqrt(root) C)) + bias. Where the root is a whole number r and there is no cap, the bias is zero and
/// its part of the score, r times it, is in the dot product: so two scores are equal only if both
/// their numbers are. (With a cap: tanh of an algebraic number is transcendental, and two of them
/// differ by no algebraic number but 0.)
struct Score {
  Big dot, bias;
};

bool equal(const Score& a, const Score& b) {
  return mpfr_equal_p(a.dot, b.dot) && mpfr_equal_p(a.bias, b.bias);
}

Interval root_of(unsigned long root, mpfr_prec_t precision) {
  Interval result(precision);
  mpfr_sqrt_ui(result.low, root, MPFR_RNDD);
  mpfr_sqrt_ui(result.high, root, MPFR_RNDU);
  return result;
}

/// x / root
Interval scaled(const Big& x, const Interval& root, mpfr_prec_t precision) {
  const bool is_negative = mpfr_sgn(x) < 0;
  Interval result(precision);
  mpfr_div(result.low, x, is_negative ? root.low : root.high, MPFR_RNDD);
  mpfr_div(result.high, x, is_negative ? root.high : root.low, MPFR_RNDU);
  return result;
}

/// C tanh(x / C), which rises with x.
void cap(Interval& x, double C) {
  mpfr_div_d(x.low, x.low, C, MPFR_RNDD);
  mpfr_div_d(x.high, x.high, C, MPFR_RNDU);
  mpfr_tanh(x.low, x.low, MPFR_RNDD);
  mpfr_tanh(x.high, x.high, MPFR_RNDU);
  mpfr_mul_d(x.low, x.low, C, MPFR_RNDD);
  mpfr_mul_d(x.high, x.high, C, MPFR_RNDU);
}

/// a - b
Interval difference(const Score& a, const Score& b, const Rule& rule, mpfr_prec_t precision) {
  const Interval root = root_of(rule.root, precision);
  const Big biases = exact([&](mpfr_ptr r) { return mpfr_sub(r, a.bias, b.bias, MPFR_RNDN); });
  Interval result(precision);
  if (rule.softcap && !mpfr_equal_p(a.dot, b.dot)) {
    Interval of_a = scaled(a.dot, root, precision), of_b = scaled(b.dot, root, precision);
    cap(of_a, *rule.softcap);
    cap(of_b, *rule.softcap);
    mpfr_sub(result.low, of_a.low, of_b.high, MPFR_RNDD);
    mpfr_sub(result.high, of_a.high, of_b.low, MPFR_RNDU);
  } else {
    result = scaled(exact([&](mpfr_ptr r) { return mpfr_sub(r, a.dot, b.dot, MPFR_RNDN); }), root,
                    precision);
  }
  mpfr_add(result.low, result.low, biases, MPFR_RNDD);
  mpfr_add(result.high, result.high, biases, MPFR_RNDU);
  return result;
}

bool is_larger(const Score& a, const Score& b, const Rule& rule) {
  const int by_dots = mpfr_cmp(a.dot, b.dot), by_biases = mpfr_cmp(a.bias, b.bias);
  if (by_dots >= 0 && by_biases >= 0) return by_dots > 0 || by_biases > 0;
  if (by_dots <= 0 && by_biases <= 0) return false;
  for (mpfr_prec_t precision = 128;; precision *= 2) {
    const Interval apart = difference(a, b, rule, precision);
    if (mpfr_sgn(apart.low) > 0) return true;
    if (mpfr_sgn(apart.high) < 0) return false;
    if (rule.softcap && precision > 20000) throw std::runtime_error("undecided");
  }
}

Score score_of(Big dot, double bias, const Rule& rule) {
  Score score{exact([&](mpfr_ptr r) { return mpfr_mul_d(r, dot, rule.factor, MPFR_RNDN); }),
              Big(53)};
  if (rule.whole_root == 0) {
    mpfr_set_d(score.bias, bias, MPFR_RNDN);
    return score;
  }
  mpfr_set_zero(score.bias, 1);
  Big share(128);
  mpfr_set_d(share, bias, MPFR_RNDN);
  mpfr_mul_ui(share, share, rule.whole_root, MPFR_RNDN);  // 53 + 64 bits: exact
  score.dot = exact([&](mpfr_ptr r) { return mpfr_add(r, score.dot, share, MPFR_RNDN); });
  return score;
}

/// Stands among keys for the sink.
constexpr Index kSink = -1;

/// Keys of one query that have exactly the same score.
struct Group {
  Score score;
  std::vector<Index> keys;  ///< ascending, then kSink
};

/// Groups of the keys that are seen, and of the sink, the one with the largest score first.
std::vector<Group> grouped(const double* q_t, const double* k, const Seen& seen, Index d_k,
                           const Rule& rule, const std::optional<double>& sink) {
  std::vector<Score> scores;
  std::vector<Index> keys = seen.keys;
  for (std::size_t i = 0; i < seen.keys.size(); ++i)
    scores.push_back(score_of(exact_dot(q_t, k + seen.keys[i] * d_k, d_k), seen.biases[i], rule));
  if (sink) {
    Big zero(2);
    mpfr_set_zero(zero, 1);
    scores.push_back(score_of(std::move(zero), *sink, rule));
    keys.push_back(kSink);
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return is_larger(scores[a], scores[b], rule);
  });
  std::vector<Group> groups;
  for (std::size_t i : order) {
    if (groups.empty() || !equal(groups.back().score, scores[i])) groups.push_back({scores[i], {}});
    groups.back().keys.push_back(keys[i]);
  }
  return groups;
}

/// Adds coefficient * factor to sum, rounding outward. factor is not negative.
void add_product(Interval& sum, const Big& coefficient, const Interval& factor) {
  const bool falls = mpfr_sgn(coefficient) < 0;
  mpfr_fma(sum.low, coefficient, falls ? factor.high : factor.low, sum.low, MPFR_RNDD);
  mpfr_fma(sum.high, coefficient, falls ? factor.low : factor.high, sum.high, MPFR_RNDU);
}

/// sum_g coefficients[g] * factors[g]
Interval linear_combination(std::span<const Big> coefficients, std::span<const Interval> factors,
                            mpfr_prec_t precision) {
  Interval sum(precision);
  mpfr_set_zero(sum.low, 1);
  mpfr_set_zero(sum.high, 1);
  for (std::size_t g = 0; g < factors.size(); ++g) add_product(sum, coefficients[g], factors[g]);
  return sum;
}

/// numerator / denominator, where the denominator is positive.
Interval quotient(const Interval& numerator, const Interval& denominator, mpfr_prec_t precision) {
  Interval ratio(precision);
  mpfr_div(ratio.low, numerator.low,
           mpfr_sgn(numerator.low) < 0 ? denominator.low : denominator.high, MPFR_RNDD);
  mpfr_div(ratio.high, numerator.high,
           mpfr_sgn(numerator.high) < 0 ? denominator.high : denominator.low, MPFR_RNDU);
  return ratio;
}

/// One query: every result in its row is a ratio
///
///   sum_g a_g E_g / sum_g n_g E_g,   E_g = exp(score_g - score_0),
///
/// over groups g of keys with the same score, n_g keys in each. For output column d, a_g is the sum
/// of v[j][d] over the group; for a weight it is 1 in the key's own group and 0 elsewhere.
class Row {
 public:
  Row(const double* q_t, const double* k, const Seen& seen, Index d_k, const Scoring& scoring)
      : rule_(rule_of(scoring, d_k)), groups_(grouped(q_t, k, seen, d_k, rule_, scoring.sink)) {
    for (const Group& group : groups_) {
      counts_.emplace_back(64);
      mpfr_set_ui(counts_.back(), group.keys.size(), MPFR_RNDN);
    }
  }

  std::span<const Group> groups() const { return groups_; }

  /// Output column whose values are v_d[j * stride], j a key.
  Ordinal output(const double* v_d, Index stride, const Format& format) {
    std::vector<Big> sums;
    for (const Group& group : groups_) {
      std::vector<Big> terms;
      for (Index j : group.keys)
        mpfr_set_d(terms.emplace_back(53), j == kSink ? 0 : v_d[j * stride], MPFR_RNDN);
      sums.push_back(exact_sum(terms));
    }
    return rounded(
        format,
        [&](mpfr_prec_t precision) {
          return linear_combination(sums, at(precision).exponentials, precision);
        },
        [&](std::size_t g) { return sums[g]; });
  }

  /// Weight of each key of a group.
  Ordinal weight(std::size_t group, const Format& format) {
    return rounded(
        format, [&](mpfr_prec_t precision) { return at(precision).exponentials[group]; },
        [&](std::size_t g) {
          Big one_or_zero(2);
          mpfr_set_ui(one_or_zero, g == group, MPFR_RNDN);
          return one_or_zero;
        });
  }

 private:
  struct Evaluation {
    std::vector<Interval> exponentials;
    Interval denominator;
  };

  /// Rounds the ratio with `numerator(precision)`, an interval, whose exact coefficients are
  /// `coefficient(g)`. The precision is doubled until the interval leaves at most one midpoint
  /// between two numbers open. It gets that narrow: the denominator is at least 1, and what MPFR
  /// loses below 2^-2^30 is far below the smallest number.
  template <class Numerator, class Coefficient>
  Ordinal rounded(const Format& format, Numerator numerator, Coefficient coefficient) {
    for (mpfr_prec_t precision = 128;; precision *= 2) {
      const Interval ratio = quotient(numerator(precision), at(precision).denominator, precision);
      const Ordinal low = round_to(ratio.low, format), high = round_to(ratio.high, format);
      if (low == high) return low;
      if (high - low == 1) return low_or_next(low, format, coefficient);
    }
  }

  /// `low` or the number after it, whichever is nearer to the ratio. The ratio lies above the
  /// midpoint m between them when  sum_g (a_g - m n_g) E_g  is positive.
  template <class Coefficient>
  Ordinal low_or_next(Ordinal low, const Format& format, Coefficient coefficient) {
    const Big middle = midpoint_after(low, format);
    std::vector<Big> differences;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Big share =
          exact([&](mpfr_ptr r) { return mpfr_mul(r, middle, counts_[g], MPFR_RNDN); });
      const Big own = coefficient(g);
      differences.push_back(exact([&](mpfr_ptr r) { return mpfr_sub(r, own, share, MPFR_RNDN); }));
    }
    const int side = sign(differences);
    if (side == 0) return low % 2 == 0 ? low : low + 1;
    return side < 0 ? low : low + 1;
  }

  /// Sign of  sum_g c_g E_g.
  ///
  /// The exponents are distinct algebraic numbers, so by the theorem of Lindemann and Weierstrass
  /// the sum is zero only if every c_g is. Otherwise it is divided by the first E_g that counts:
  /// then the leading term is c_g itself, at least 2^-1075, however small E_g was, and an E that
  /// underflows MPFR's range (below 2^-2^30) is enclosed by [0, 2^-2^30] and cannot matter.
  int sign(std::span<const Big> coefficients) const {
    std::size_t leader = 0;
    while (leader < coefficients.size() && mpfr_zero_p(coefficients[leader])) ++leader;
    if (leader == coefficients.size()) return 0;
    for (mpfr_prec_t precision = 128;; precision *= 2) {
      const Interval sum = linear_combination(coefficients.subspan(leader),
                                              exponentials(leader, precision), precision);
      if (mpfr_sgn(sum.low) > 0) return 1;
      if (mpfr_sgn(sum.high) < 0) return -1;
      if (rule_.softcap && precision > 20000) throw std::runtime_error("undecided");
    }
  }

  /// E_g / E_leader of the groups from `leader` on.
  std::vector<Interval> exponentials(std::size_t leader, mpfr_prec_t precision) const {
    std::vector<Interval> results;
    for (std::size_t g = leader; g < groups_.size(); ++g) {
      Interval& e = results.emplace_back(
          difference(groups_[g].score, groups_[leader].score, rule_, precision));
      mpfr_exp(e.low, e.low, MPFR_RNDD);
      mpfr_exp(e.high, e.high, MPFR_RNDU);
    }
    return results;
  }

  const Evaluation& at(mpfr_prec_t precision) {
    const auto known = evaluations_.find(precision);
    if (known != evaluations_.end()) return known->second;
    std::vector<Interval> e = exponentials(0, precision);
    Interval sum = linear_combination(counts_, e, precision);
    return evaluations_.emplace(precision, Evaluation{std::move(e), std::move(sum)}).first->second;
  }

  Rule rule_;
  std::vector<Group> groups_;
  std::vector<Big> counts_;
  std::map<mpfr_prec_t, Evaluation> evaluations_;
};

}  // namespace

Attention exact_attention(const Array& q, const Array& k, const Array& v, Dtype dtype) {
  const auto T_k = static_cast<std::size_t>(k.shape()[0]);
  Seen all{std::vector<Index>(T_k), std::vector<double>(T_k)};
  std::iota(all.keys.begin(), all.keys.end(), Index{0});
  return exact_attention(q, k, v, dtype,
                         std::vector<Seen>(static_cast<std::size_t>(q.shape()[0]), all));
}

Attention exact_attention(const Array& q, const Array& k, const Array& v, Dtype dtype,
                          std::span<const Seen> rows, const Scoring& scoring) {
  const Index T_q = q.shape()[0], d_k = q.shape()[1], T_k = k.shape()[0], d_v = v.shape()[1];
  const std::vector<double> q_values = values_of(q), k_values = values_of(k),
                            v_values = values_of(v);
  const Format format = format_of(dtype);
  const Index size = size_bytes(dtype);

  Attention result{Array(Shape({T_q, d_v}), dtype), Array(Shape({T_q, T_k}), dtype)};
  for (Index t = 0; t < T_q; ++t) {
    const Seen& seen = rows[static_cast<std::size_t>(t)];
    if (seen.keys.empty()) continue;
    Row row(q_values.data() + t * d_k, k_values.data(), seen, d_k, scoring);
    for (Index d = 0; d < d_v; ++d)
      store(row.output(v_values.data() + d, d_v, format), dtype,
            result.output.mutable_data() + (t * d_v + d) * size);
    for (std::size_t g = 0; g < row.groups().size(); ++g) {
      const Ordinal weight = row.weight(g, format);
      for (Index j : row.groups()[g].keys)
        if (j != kSink) store(weight, dtype, result.weights->mutable_data() + (t * T_k + j) * size);
    }
  }
  return result;
}

}  // namespace sdpa::oracle
