#include "exact/real_row.h"

#include "exact/decide.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace sdpa {

// Why this ends. With keys grouped by equal scores x_g, the average is o = sum_g exp(x_g) V_g /
// sum_g exp(x_g) n_g, where V_g is the sum of the group's values and n_g the number of its keys. o
// is enclosed in an interval that shrinks as the precision doubles; if both of its ends round to
// the same number, that is the result. An interval that is short enough holds at most one boundary
// m between two results, and o lies above it, on it or below it as
//
//    F(m) = sum_g exp(x_g) c_g,   c_g = V_g - n_g m,
//
// is positive, zero or negative. The x_g are distinct algebraic numbers (rational numbers times
// 1/sqrt(d_k)), and the c_g are rational, so by the theorem of Lindemann and Weierstrass (A. Baker,
// "Transcendental Number Theory", theorem 1.4) F(m) is zero only if every c_g is. That is a
// question about sums of products of floating-point numbers, answered exactly; then m is the result
// and ties go to even. Otherwise F(m) is not zero, and some finite precision shows its sign.
//
// Groups with c_g = 0 are left out of F, and the first that remains is made the leading one, with
// exp(0) before it. So whatever follows it is compared with a number that is not small, and
// exp(-10^30) can break a tie without ever being computed: a term below exp(-2^28) c_g only widens
// the bound.

namespace {

constexpr mpfr_prec_t kFirstPrecision = 192;

/// Arguments of exp below minus this are not computed; MPFR's exponents go further.
constexpr double kLargestExponent = 0x1p28;

/// Products of two doubles fit.
constexpr mpfr_prec_t kProductPrecision = 106;

/// 2^(1 - precision): no operation's relative error is larger.
void set_unit(mpfr_ptr unit, mpfr_prec_t precision) {
  mpfr_set_ui_2exp(unit, 1, 1 - precision, MPFR_RNDU);
}

/// Sum of doubles, correctly rounded to the precision of `sum`.
void sum_doubles(mpfr_ptr sum, std::span<const double> x) {
  std::vector<BigFloat> terms;
  std::vector<mpfr_ptr> pointers;
  terms.reserve(x.size());
  for (double value : x) {
    terms.emplace_back(53);
    mpfr_set_d(terms.back(), value, MPFR_RNDN);
    pointers.push_back(terms.back());
  }
  mpfr_sum(sum, pointers.data(), pointers.size(), MPFR_RNDN);
}

}  // namespace

RealRow::RealRow(const Head& head, Index t) : head_(head) {
  const Extents& n = head.n;
  q_t_.resize(static_cast<std::size_t>(n.d_k));
  head.q.read_rows(t, 1, q_t_.data());
  read_keys();
  group_keys();
}

void RealRow::read_keys() {
  const Extents& n = head_.n;
  const auto keys = static_cast<std::size_t>(n.T_k);
  dot_high_.resize(keys);
  dot_low_.resize(keys);
  dot_exact_.resize(keys);
  std::vector<double> k_j(static_cast<std::size_t>(n.d_k));
  for (std::size_t j = 0; j < keys; ++j) {
    head_.k.read_rows(static_cast<Index>(j), 1, k_j.data());
    const ExactSum dot = exact_dot(q_t_.data(), k_j.data(), n.d_k);
    dot_high_[j] = dot.high;
    dot_low_[j] = dot.low;
    dot_exact_[j] = dot.exact;
  }
}

void RealRow::group_keys() {
  order_.resize(dot_high_.size());
  std::iota(order_.begin(), order_.end(), Index{0});
  std::ranges::sort(order_, [this](Index a, Index b) { return compare_scores(a, b) > 0; });
  for (Index at = 0; at < head_.n.T_k; ++at) {
    const auto position = static_cast<std::size_t>(at);
    if (at == 0 || compare_scores(order_[position - 1], order_[position]) != 0)
      groups_.push_back({at, at});
    groups_.back().end = at + 1;
  }
}

/// Sign of score j minus the other score, exactly.
int RealRow::compare_scores(Index j, Index other) const {
  const auto a = static_cast<std::size_t>(j), b = static_cast<std::size_t>(other);
  if (dot_exact_[a] && dot_exact_[b]) {
    if (dot_high_[a] != dot_high_[b]) return dot_high_[a] > dot_high_[b] ? 1 : -1;
    return (dot_low_[a] > dot_low_[b]) - (dot_low_[a] < dot_low_[b]);
  }
  const Index row_bytes = head_.n.d_k * size_bytes(head_.k.dtype());
  if (std::memcmp(head_.k.row(j), head_.k.row(other), static_cast<std::size_t>(row_bytes)) == 0)
    return 0;
  BigFloat difference(MPFR_PREC_MIN);
  score_difference(difference, j, other);
  return mpfr_sgn(static_cast<mpfr_srcptr>(difference));
}

/// q_t (k_j - k_other), the exact number rounded once to the precision of `difference`.
void RealRow::score_difference(mpfr_ptr difference, Index j, Index other) const {
  const auto a = static_cast<std::size_t>(j), b = static_cast<std::size_t>(other);
  if (dot_exact_[a] && dot_exact_[b])
    sum_doubles(difference, std::vector{dot_high_[a], dot_low_[a], -dot_high_[b], -dot_low_[b]});
  else
    difference_by_products(difference, j, other);
}

void RealRow::difference_by_products(mpfr_ptr difference, Index j, Index other) const {
  const Index d_k = head_.n.d_k;
  std::vector<double> k_row(static_cast<std::size_t>(d_k));
  std::vector<BigFloat> terms;
  std::vector<mpfr_ptr> pointers;
  terms.reserve(2 * k_row.size());
  for (auto [row, sign] : {std::pair{j, 1.0}, std::pair{other, -1.0}}) {
    head_.k.read_rows(row, 1, k_row.data());
    for (std::size_t i = 0; i < k_row.size(); ++i) {
      BigFloat& term = terms.emplace_back(kProductPrecision);
      mpfr_set_d(term, sign * k_row[i], MPFR_RNDN);
      mpfr_mul_d(term, term, q_t_[i], MPFR_RNDN);
      pointers.push_back(term);
    }
  }
  mpfr_sum(difference, pointers.data(), pointers.size(), MPFR_RNDN);
}

/// exp(x_g - x_leading) for the groups from `leading` on. The relative error of each is at most
/// 2^(1 - precision) (4 X + 1), where X is the largest exponent: the difference of dot products,
/// the scale and their product are each rounded once, which the argument's size turns into an error
/// of exp, and exp is rounded once.
const RealRow::Numerators& RealRow::numerators(Index leading, mpfr_prec_t precision) {
  Numerators& result = leading == 0 ? numerators_ : from_leading_;
  if (result.leading == leading && result.precision == precision) return result;
  result = {leading, precision, {}, {}, 0};

  BigFloat scale(precision);
  mpfr_set_ui(scale, static_cast<unsigned long>(head_.n.d_k), MPFR_RNDN);
  mpfr_rec_sqrt(scale, scale, MPFR_RNDN);
  const Index leading_key =
      order_[static_cast<std::size_t>(groups_[static_cast<std::size_t>(leading)].begin)];
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    BigFloat& value = result.values.emplace_back(precision);
    mpfr_set_ui(value, 0, MPFR_RNDN);
    bool negligible = true;
    if (static_cast<Index>(g) >= leading) {
      score_difference(value, order_[static_cast<std::size_t>(groups_[g].begin)], leading_key);
      mpfr_mul(value, value, scale, MPFR_RNDN);
      negligible = mpfr_cmp_d(value, -kLargestExponent) < 0;
      if (!negligible) {
        result.largest_exponent = std::max(result.largest_exponent, -mpfr_get_d(value, MPFR_RNDD));
        mpfr_exp(value, value, MPFR_RNDN);
      }
    }
    result.negligible.push_back(negligible);
  }
  return result;
}

void RealRow::sum_groups() {
  group_sums_.clear();
  for (const Group& group : groups_)
    group_sums_.push_back(
        exact_sum({v_.data() + group.begin, static_cast<std::size_t>(group.count())}));
}

/// V_g - n_g * subtracted, the exact number rounded once. Returns 0 if it was not rounded.
int RealRow::group_sum(mpfr_ptr sum, std::size_t g, mpfr_srcptr subtracted) const {
  const Group& group = groups_[g];
  std::vector<BigFloat> terms;
  terms.reserve(static_cast<std::size_t>(group_sums_[g].exact ? 2 : group.count()) + 1);
  auto add_term = [&terms](double x) { mpfr_set_d(terms.emplace_back(53), x, MPFR_RNDN); };
  if (group_sums_[g].exact) {
    add_term(group_sums_[g].high);
    add_term(group_sums_[g].low);
  } else {
    for (Index at = group.begin; at < group.end; ++at) add_term(v_[static_cast<std::size_t>(at)]);
  }
  BigFloat& product = terms.emplace_back(128);
  mpfr_mul_ui(product, subtracted, static_cast<unsigned long>(group.count()), MPFR_RNDN);
  mpfr_neg(product, product, MPFR_RNDN);
  std::vector<mpfr_ptr> pointers(terms.begin(), terms.end());
  return mpfr_sum(sum, pointers.data(), pointers.size(), MPFR_RNDN);
}

/// A sum over groups, sum_g numerator_g * c_g, and how far it may be from the real number.
struct RealRow::Sum {
  BigFloat value, error;

  explicit Sum(mpfr_prec_t precision)
      : value(precision), error(64), size_(64), product_(precision) {
    mpfr_set_ui(value, 0, MPFR_RNDN);
    mpfr_set_ui(size_, 0, MPFR_RNDN);
    mpfr_set_ui(error, 0, MPFR_RNDN);
  }

  void add(mpfr_srcptr numerator, mpfr_srcptr c) {
    mpfr_mul(product_, numerator, c, MPFR_RNDN);
    mpfr_add(value, value, product_, MPFR_RNDN);
    mpfr_abs(product_, product_, MPFR_RNDN);
    mpfr_add(size_, size_, product_, MPFR_RNDU);
  }

  void add_negligible(mpfr_srcptr c) {
    BigFloat bound(64);
    mpfr_set_d(bound, -kLargestExponent, MPFR_RNDN);
    mpfr_exp(bound, bound, MPFR_RNDU);
    BigFloat size(64);
    mpfr_abs(size, c, MPFR_RNDU);
    mpfr_mul(bound, bound, size, MPFR_RNDU);
    mpfr_add(error, error, bound, MPFR_RNDU);
  }

  /// Each term is off by its numerator's error and two roundings, c's and the product's, and then
  /// takes part in at most as many additions as there are groups. Doubled for the products of
  /// errors.
  void finish(const Numerators& numerators) {
    BigFloat unit(64);
    set_unit(unit, numerators.precision);
    const double count =
        4 * numerators.largest_exponent + 4 + static_cast<double>(numerators.values.size());
    mpfr_mul_d(unit, unit, 2 * count, MPFR_RNDU);
    mpfr_mul(unit, unit, size_, MPFR_RNDU);
    mpfr_add(error, error, unit, MPFR_RNDU);
  }

 private:
  BigFloat size_, product_;
};

/// Sign of F(boundary).
int RealRow::sign_against(mpfr_srcptr boundary) {
  for (mpfr_prec_t precision = kFirstPrecision;; precision *= 2) {
    Sum sum(precision);
    BigFloat c(precision);
    const Numerators* from_leading = nullptr;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      group_sum(c, g, boundary);
      if (mpfr_zero_p(static_cast<mpfr_srcptr>(c))) continue;
      if (from_leading == nullptr) from_leading = &numerators(static_cast<Index>(g), precision);
      if (from_leading->negligible[g])
        sum.add_negligible(c);
      else
        sum.add(from_leading->values[g], c);
    }
    if (from_leading == nullptr) return 0;
    sum.finish(*from_leading);
    if (mpfr_cmpabs(sum.value, sum.error) > 0) return mpfr_sgn(static_cast<mpfr_srcptr>(sum.value));
  }
}

/// The average where all scores are equal: the sum of the values through their number, if the sum
/// fits.
std::optional<double> RealRow::round_mean(Dtype dtype) const {
  BigFloat mean(kFirstPrecision), zero(MPFR_PREC_MIN);
  mpfr_set_ui(zero, 0, MPFR_RNDN);
  if (group_sum(mean, 0, zero) != 0) return std::nullopt;
  const auto keys = static_cast<unsigned long>(groups_[0].count());
  if (mpfr_div_ui(mean, mean, keys, MPFR_RNDZ) != 0) {
    // Half a unit further from zero: on the same side of every boundary as the quotient.
    mpfr_prec_round(mean, kFirstPrecision + 1, MPFR_RNDN);
    if (mpfr_sgn(static_cast<mpfr_srcptr>(mean)) > 0)
      mpfr_nextabove(mean);
    else
      mpfr_nextbelow(mean);
  }
  return round_real(mean, dtype);
}

/// The average of v_ with the row's weights, rounded.
double RealRow::round_average(Dtype dtype) {
  sum_groups();
  if (groups_.size() == 1)
    if (const std::optional<double> mean = round_mean(dtype)) return *mean;
  BigFloat zero(MPFR_PREC_MIN);
  mpfr_set_ui(zero, 0, MPFR_RNDN);
  for (mpfr_prec_t precision = kFirstPrecision;; precision *= 2) {
    const Numerators& p = numerators(0, precision);
    Sum values(precision), counts(precision);
    BigFloat c(precision), count(64);
    bool all_zero = true;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      group_sum(c, g, zero);
      mpfr_set_ui(count, static_cast<unsigned long>(groups_[g].count()), MPFR_RNDN);
      all_zero = all_zero && mpfr_zero_p(static_cast<mpfr_srcptr>(c));
      if (p.negligible[g]) {
        values.add_negligible(c);
        counts.add_negligible(count);
      } else {
        values.add(p.values[g], c);
        counts.add(p.values[g], count);
      }
    }
    if (all_zero) return 0;
    values.finish(p);
    counts.finish(p);

    // o = V / L; its error is at most (dV + |o| dL) / (L - dL), and L, which holds exp(0), is at
    // least 1.
    BigFloat o(precision), error(64), size(64);
    mpfr_div(o, values.value, counts.value, MPFR_RNDN);
    mpfr_abs(size, o, MPFR_RNDU);
    mpfr_mul(error, size, counts.error, MPFR_RNDU);
    mpfr_add(error, error, values.error, MPFR_RNDU);
    mpfr_div(error, error, counts.value, MPFR_RNDU);
    mpfr_mul_2ui(error, error, 1, MPFR_RNDU);
    BigFloat last_rounding(64);
    set_unit(last_rounding, precision);
    mpfr_mul(last_rounding, last_rounding, size, MPFR_RNDU);
    mpfr_add(error, error, last_rounding, MPFR_RNDU);

    BigFloat below(precision), above(precision);
    mpfr_sub(below, o, error, MPFR_RNDD);
    mpfr_add(above, o, error, MPFR_RNDU);
    const double lower = round_real(below, dtype), upper = round_real(above, dtype);
    if (lower == upper) return lower;
    if (next_above(lower, dtype) != upper) continue;
    BigFloat boundary(64);
    set_boundary_above(boundary, lower, dtype);
    const int sign = sign_against(boundary);
    return sign > 0 ? upper : sign < 0 ? lower : round_real(boundary, dtype);
  }
}

double RealRow::output(Index d, Dtype dtype) {
  std::vector<double> column(order_.size());
  head_.v.read_column(d, column.data());
  v_.resize(order_.size());
  std::ranges::transform(order_, v_.begin(),
                         [&](Index j) { return column[static_cast<std::size_t>(j)]; });
  return round_average(dtype);
}

double RealRow::weight(Index j, Dtype dtype) {
  v_.assign(order_.size(), 0);
  v_[static_cast<std::size_t>(std::ranges::find(order_, j) - order_.begin())] = 1;
  return round_average(dtype);
}

}  // namespace sdpa
