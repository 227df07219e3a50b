#include "report/variant_rows.h"

#include "array/float_format.h"
#include "base/parallel.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

using textbook::Values;

constexpr double kSafety = 4;  // as in row_error.cpp
constexpr double kExp = 4;

double square(double x) {
  return x * x;
}

/// Flags of the keys that a query sees, a byte a key.
std::vector<char> seen_keys(const KernelVariant& variant, const Visible& visible, Index t,
                            Index T_k) {
  std::vector<char> seen(static_cast<std::size_t>(T_k), 0);
  for (const KeyRun& run : visible.runs(t, T_k))
    std::fill(seen.begin() + run.first, seen.begin() + run.end, 1);
  if (variant.sees_hidden_only)
    for (char& one : seen) one = one == 0;
  if (variant.mask_tile != 0)
    for (Index first = 0; first < T_k; first += variant.mask_tile) {
      const auto begin = seen.begin() + first,
                 end = seen.begin() + std::min(first + variant.mask_tile, T_k);
      if (std::find(begin, end, 1) != end) std::fill(begin, end, 1);
    }
  return seen;
}

}  // namespace

/// Scores of a query, and the flags of the keys that it sees.
struct VariantRows::Scores {
  std::shared_ptr<const VariantKeys> keys;
  std::vector<char> seen;
  Values s;
  Values error_squares;  // of the scores, in units of the roundoff of sums; without exp
};

VariantRows::Scores VariantRows::scores(const KernelVariant& variant, const RowSource& from) const {
  Scores r{keys_of(variant, from), {}, {}, {}};
  const std::shared_ptr<const Dots> dots = dots_of(variant, from, *r.keys);
  const Index T_k = r.keys->T_k;
  Visible visible = judged_.mask.of_head(from.seen_head);
  if (variant.sight) variant.sight(visible, judged_.problem.head(from.seen_head).n);
  r.seen = seen_keys(variant, visible, from.seen_t, T_k);
  if (variant.missing)
    std::fill(r.seen.begin() + variant.missing->first, r.seen.begin() + variant.missing->end, 0);
  Values bias;
  if (visible.bias) {
    bias.resize(r.seen.size());
    visible.bias->read(from.seen_t, 0, T_k, bias.data());
  }
  const double cap = variant.capped ? judged_.softcap : 0;
  const auto d_k = static_cast<double>(r.keys->d_k);
  r.s.resize(r.seen.size());
  r.error_squares.resize(r.seen.size());
  double scale = variant.scale.value_or(judged_.scale);
  const double again = scale;
  for (std::size_t j = 0; j < r.s.size(); ++j) {
    const bool is_new_tile =
        variant.tile != 0 && j != 0 && static_cast<Index>(j) % variant.tile == 0;
    if (is_new_tile && variant.tile_fault == TileFault::scaled_again) scale *= again;
    std::size_t k_row = j;
    if (variant.stale && variant.stale_k && static_cast<Index>(j) >= variant.stale->first &&
        static_cast<Index>(j) < variant.stale->end)
      k_row -= static_cast<std::size_t>(variant.stale_by);
    double x = scale * dots->sums[k_row];
    double squares = d_k * (square(x) + square(scale) * dots->squares[k_row]) + 2 * square(x);
    if (cap != 0 && !variant.cap_after_bias) x = cap * std::tanh(x / cap);
    if (!bias.empty() && std::isfinite(bias[j])) {
      x += variant.bias_factor * bias[j];
      squares += 2 * square(variant.bias_factor * bias[j]);
    }
    if (cap != 0 && variant.cap_after_bias) x = cap * std::tanh(x / cap);
    if (!r.seen[j] && variant.hidden == HiddenKeys::zero_score) x = 0;
    if (!r.seen[j] && variant.hidden == HiddenKeys::lowest_cap) x = -judged_.softcap;
    if (!r.seen[j] && variant.hidden == HiddenKeys::seen_less) x -= 1;
    r.s[j] = x;
    // A hyperbolic tangent is off by some ulp, as an exponential is.
    r.error_squares[j] = squares + (cap != 0 ? 18 : 2) * square(x);
  }
  return r;
}

/// The logarithm of the sum of exponentials over the queries, for each key.
std::shared_ptr<const Values> VariantRows::sums_over_queries(const KernelVariant& variant,
                                                             Index head) const {
  {
    std::lock_guard lock(mutex_);
    if (const auto found = over_queries_.find(head); found != over_queries_.end())
      return found->second;
  }
  const Index T_q = judged_.problem.head(head).n.T_q;
  constexpr Index kQueries = 64;
  std::mutex mutex;
  Values largest, sums;
  parallel_for(judged_.threads, (T_q + kQueries - 1) / kQueries, [&](Index chunk) {
    Values m, l;
    for (Index t = chunk * kQueries; t < std::min(T_q, (chunk + 1) * kQueries); ++t) {
      const Scores of_t = scores(variant, RowSource::own(head, t));
      m.resize(of_t.s.size(), -HUGE_VAL);
      l.resize(of_t.s.size());
      for (std::size_t j = 0; j < m.size(); ++j) {
        if (!of_t.seen[j]) continue;
        const double above = std::max(m[j], of_t.s[j]);
        l[j] = l[j] * std::exp(m[j] - above) + std::exp(of_t.s[j] - above);
        m[j] = above;
      }
    }
    std::lock_guard lock(mutex);
    largest.resize(m.size(), -HUGE_VAL);
    sums.resize(m.size());
    for (std::size_t j = 0; j < m.size(); ++j) {
      const double above = std::max(m[j], largest[j]);
      if (above == -HUGE_VAL) continue;
      sums[j] = sums[j] * std::exp(largest[j] - above) + l[j] * std::exp(m[j] - above);
      largest[j] = above;
    }
  });
  for (std::size_t j = 0; j < sums.size(); ++j) sums[j] = largest[j] + std::log(sums[j]);
  auto shared = std::make_shared<const Values>(std::move(sums));
  std::lock_guard lock(mutex_);
  over_queries_[head] = shared;
  return shared;
}

/// Multiplies a_j and b_j by what is wrong from tile to tile.
void VariantRows::add_tile_faults(const KernelVariant& variant, const Scores& scores,
                                  RowTerms& terms) const {
  const auto T_k = terms.a.size(), tile = static_cast<std::size_t>(variant.tile);
  double running = -HUGE_VAL;
  for (std::size_t first = 0; first < T_k; first += tile) {
    const std::size_t end = std::min(first + tile, T_k);
    double in_tile = 0;
    for (std::size_t j = first; j < end; ++j) {
      if (terms.b[j] == 0 && !scores.seen[j]) continue;
      running = std::max(running, scores.s[j]);
      in_tile += terms.b[j];
    }
    double grown = std::exp(terms.largest - running);
    if (variant.tile_fault == TileFault::merged_with_exponent)
      grown = in_tile == 0 ? 1 : std::pow(in_tile, variant.exponent - 1);
    for (std::size_t j = first; j < end; ++j) {
      if (variant.tile_fault != TileFault::sum_not_rescaled && terms.a[j] != 0) terms.a[j] *= grown;
      if (variant.tile_fault != TileFault::output_not_rescaled && terms.b[j] != 0)
        terms.b[j] *= grown;
    }
  }
}

RowTerms VariantRows::terms(const KernelVariant& variant, Index head, Index t) const {
  const RowSource from = variant.source ? variant.source(head, t) : RowSource::own(head, t);
  Scores scores = this->scores(variant, from);
  const bool all_take_part = variant.hidden != HiddenKeys::left_out;
  const Roundings& u = judged_.roundings;
  RowTerms r;
  r.keys = scores.keys;
  const std::size_t T_k = scores.s.size();
  r.a.resize(T_k);
  r.b.resize(T_k);
  r.error.resize(T_k);
  const auto takes_part = [&](std::size_t j) {
    return all_take_part ? !(variant.missing && static_cast<Index>(j) >= variant.missing->first &&
                             static_cast<Index>(j) < variant.missing->end)
                         : scores.seen[j] != 0;
  };
  double m = -HUGE_VAL;
  for (std::size_t j = 0; j < T_k; ++j)
    if (takes_part(j) && !(scores.s[j] <= m)) m = scores.s[j];
  const bool over_queries = variant.divisor == Divisor::sum_over_queries;
  const std::shared_ptr<const Values> sums =
      over_queries ? sums_over_queries(variant, from.q_head) : nullptr;
  r.largest = m;
  for (std::size_t j = 0; j < T_k; ++j) {
    if (!takes_part(j)) continue;
    ++r.count;
    const double x = over_queries ? scores.s[j] - (*sums)[j] : scores.s[j] - m;
    r.b[j] = std::exp(x);
    r.a[j] = !scores.seen[j] && variant.hidden == HiddenKeys::without_value ? 0 : r.b[j];
    const double e =
        std::sqrt(scores.error_squares[j] + 2 * square(x) + square(kExp)) * (over_queries ? 2 : 1);
    const double log_error =
        kSafety * u.sums * e + u.exp + (u.scores + variant.scale_slack) * std::fabs(scores.s[j]) +
        kSafety * u.products *
            std::sqrt(scores.error_squares[j] / static_cast<double>(r.keys->d_k));
    r.error[j] = std::expm1(std::min(log_error, 50.0));
  }
  if (variant.tile_fault != TileFault::none && variant.tile_fault != TileFault::scaled_again)
    add_tile_faults(variant, scores, r);
  for (const double b_j : r.b) r.sum += b_j;

  if (judged_.sink && r.count != 0) {
    if (const std::optional<double> sink = judged_.sink(from.seen_head))
      r.others += variant.sink_count *
                  std::exp(variant.sink_factor * *sink - (variant.sink_after_maximum ? 0 : m));
  }
  if (variant.padding != 0)
    r.others += variant.padding *
                std::exp((variant.padding_is_capped ? -judged_.softcap : 0) - (r.count ? m : 0));
  r.sum += r.others;
  if (variant.divisor != Divisor::sum) r.sum = 1;
  if (variant.divisor == Divisor::nothing_no_maximum) r.sum = std::exp(-m);

  if (variant.v_shift != 0 || (variant.stale && variant.stale_v)) {
    const auto n = static_cast<Index>(T_k);
    for (Index j = 0; j < n; ++j) {
      const bool is_stale =
          variant.stale && variant.stale_v && j >= variant.stale->first && j < variant.stale->end;
      r.v_row.push_back(is_stale ? j - variant.stale_by : ((j - variant.v_shift) % n + n) % n);
    }
  }
  r.s = std::move(scores.s);
  return r;
}

VariantRow VariantRows::row(const KernelVariant& variant, const RowTerms& terms,
                            Index columns) const {
  const auto n = static_cast<std::size_t>(std::min(columns, terms.keys->d_v));
  VariantRow r{Values(n), Values(n), terms.sum == 0};
  if (r.is_empty) return r;
  Values sizes(n), squares(n);
  const auto T_k = static_cast<Index>(terms.a.size());
  for (Index j = 0; j < T_k; ++j) {
    const double a_j = terms.a[static_cast<std::size_t>(j)];
    if (a_j == 0) continue;
    const double* v_j = terms.value(j);
    double *o = r.o.data(), *size = sizes.data(), *sq = squares.data();
    for (std::size_t d = 0; d < n; ++d) {
      const double term = a_j * v_j[d];
      o[d] += term;
      size[d] += std::fabs(term);
      sq[d] += term * term;
    }
  }
  for (double& o_d : r.o) o_d /= terms.sum;
  const bool is_divided = variant.divisor == Divisor::sum;
  for (Index j = 0; j < T_k; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const double error = terms.error[at], a_j = terms.a[at] * error,
                 b_j = is_divided ? terms.b[at] * error : 0;
    if (a_j == 0 && b_j == 0) continue;
    const double *v_j = terms.value(j), *o = r.o.data();
    double* allowed = r.allowed.data();
    for (std::size_t d = 0; d < n; ++d) allowed[d] += std::fabs(a_j * v_j[d] - b_j * o[d]);
  }
  const Roundings& u = judged_.roundings;
  const double sums = kSafety * u.sums * std::sqrt(2 * terms.count + 16);
  const double stored = std::max({u.weights, u.products, variant.weight_roundoff});
  for (std::size_t d = 0; d < n; ++d) {
    const double size = std::fabs(r.o[d]);
    r.allowed[d] =
        (r.allowed[d] + sums * sizes[d] + kSafety * stored * std::sqrt(squares[d])) / terms.sum +
        (sums + stored) * size;
    r.o[d] *= variant.factor;
    r.allowed[d] *= std::fabs(variant.factor);
    r.allowed[d] += variant.factor_slack * std::fabs(r.o[d]);
    r.allowed[d] += unit_roundoff(u.output) * (std::fabs(r.o[d]) + r.allowed[d]) +
                    smallest_subnormal(u.output) + u.step;
  }
  return r;
}

VariantRow VariantRows::row(const KernelVariant& variant, Index head, Index t) const {
  const RowTerms of_row = terms(variant, head, t);
  return row(variant, of_row, of_row.keys->d_v);
}

}  // namespace sdpa
