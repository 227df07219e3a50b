#include "report/candidates.h"

#include "attention/attention.h"
#include "report/kernel_bound.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace sdpa {

namespace {

using textbook::KeysOfQueries;
using textbook::Values;

Values query(const Head& head, Index t) {
  Values q_t(static_cast<std::size_t>(head.n.d_k));
  head.read_query(t, q_t.data());
  return q_t;
}

/// Whether all close rows have the same property.
template <class Property>
bool all_rows(const Trial& n, Property has) {
  return std::ranges::all_of(n.look.rows, [&](const CloseRow& row) { return has(row.t); });
}

/// Then scores do not matter; with a sink they do.
bool all_see_one_key(const Trial& n) {
  return !n.look.head.has_sink() && all_rows(n, [&](Index t) { return n.look.key_count(t) == 1; });
}

/// Attention of the query of a row to what `seen` looks at; zeros if that is nothing.
void attend(const Head& head, const KeysOfQueries& seen, Index t, Values& o_t) {
  std::ranges::fill(o_t, 0.0);
  if (seen.is_empty()) return;
  Values s, w;
  textbook::scores(query(head, t).data(), seen.keys(), seen.bias(), s);
  textbook::softmax(s, w);
  textbook::weighted_sum(w, seen.keys().v, o_t);
}

/// Attention of the head `other` in place of the right one.
WrongRows attention_of(const Trial& n, const Head& other, std::string why_right) {
  const auto seen = std::make_shared<KeysOfQueries>(other);
  return {[&rows = n.look.rows, other, seen](std::size_t r, Values& o_t) {
            seen->look(rows[r].t);
            attend(other, *seen, rows[r].t, o_t);
          },
          std::move(why_right)};
}

/// Attention to runs of keys that `change` has changed; without a bias.
WrongRows attention_to(const Trial& n, void (*change)(std::vector<KeyRun>& runs, Index T_k),
                       std::string why_right) {
  const Head& head = n.look.head;
  const auto seen = std::make_shared<KeysOfQueries>(head);
  return {[&rows = n.look.rows, head, seen, change](std::size_t r, Values& o_t) {
            std::vector<KeyRun> runs = head.visible.runs(rows[r].t, head.n.T_k);
            change(runs, head.n.T_k);
            seen->look_at(std::move(runs), rows[r].t);
            attend(head, *seen, rows[r].t, o_t);
          },
          std::move(why_right)};
}

/// The same keys but for those that a bias of -inf hides, and no bias.
Visible without_bias(const Visible& visible) {
  return {visible.key_length, visible.query_length, visible.offset,     visible.left,
          visible.right,      visible.mask,         visible.mask_hides, std::nullopt};
}

bool hides(const Visible& visible) {
  return !without_bias(visible).is_everything();
}

WrongRows zeros(const Trial&) {
  return {[](std::size_t, Values& o_t) { std::ranges::fill(o_t, 0.0); }, "the right results are 0"};
}

WrongRows mean_of_v(const Trial& n) {
  if (all_see_one_key(n)) return {nullptr, "one key"};
  return {[&look = n.look](std::size_t r, Values& o_t) {
            const Index t = look.rows[r].t;
            std::ranges::fill(o_t, 0.0);
            Values v_j(o_t.size());
            for (const KeyRun& run : look.head.visible.runs(t, look.head.n.T_k))
              for (Index j = run.first; j < run.end; ++j) {
                look.head.v.read_rows(j, 1, v_j.data());
                for (std::size_t d = 0; d < v_j.size(); ++d) o_t[d] += v_j[d];
              }
            for (double& o_td : o_t) o_td /= static_cast<double>(look.key_count(t));
          },
          "equal weights are right"};
}

WrongRows unscaled(const Trial& n) {
  if (n.look.head.score_scale_high == 1 && n.look.head.q_sign == 1) return {};
  if (all_see_one_key(n)) return {nullptr, "one key"};
  Head head = n.look.head;
  head.score_scale_high = head.q_sign = 1;
  return attention_of(n, head, "the scores are 0");
}

Plane transposed(Plane plane) {
  std::swap(plane.query_step, plane.key_step);
  return plane;
}

/// Which queries see a key: the same conditions, solved for the query.
Visible transposed(const Visible& visible) {
  Visible other = visible;
  std::swap(other.key_length, other.query_length);
  std::swap(other.left, other.right);
  other.offset = -visible.offset;
  if (visible.mask) other.mask = transposed(*visible.mask);
  if (visible.bias) other.bias = transposed(*visible.bias);
  return other;
}

/// Weights that sum to one over the queries: w[t][j] = exp(s[t][j]) / sum_t exp(s[t][j]). They are
/// what attention gives if k asks and q answers, with values that are 1 for one query and else 0.
WrongRows softmax_over_queries(const Trial& n) {
  const Head& head = n.look.head;
  constexpr std::size_t kMostRows = 8;
  const std::size_t rows = std::min(n.look.rows.size(), kMostRows);
  if (rows == 0) return {};
  Array ones(Shape({head.n.T_q, static_cast<Index>(rows)}), Dtype::float64);
  for (std::size_t r = 0; r < rows; ++r) {
    const double one = 1;
    store(ones, n.look.rows[r].t, static_cast<Index>(r), &one, 1);
  }
  Head other = head;
  other.q = head.k;
  other.k = head.q;
  other.v = ones;
  other.n = {head.n.T_k, head.n.T_q, head.n.d_k, static_cast<Index>(rows)};
  other.visible = transposed(head.visible);
  other.sink = -HUGE_VAL;
  std::vector<KeyRun> seen_keys = {{0, head.n.T_k}};
  if (n.look.survey) seen_keys = n.look.survey->seen_runs(0, head.n.T_k);
  std::vector<HeadRows> parts;
  for (const KeyRun& run : seen_keys) parts.push_back({&other, run.first, run.count(), run.first});
  const Values weights =
      textbook::transposed(plain_sums(parts, head.n.T_k, other.n.d_v, n.look.precision, n.threads));
  const auto seen = std::make_shared<KeysOfQueries>(head);
  return {[&look = n.look, rows, weights, seen](std::size_t r, Values& o_t) {
            o_t = look.rows[r].output;
            if (r >= rows) return;
            seen->look(look.rows[r].t);
            Values w;
            for (const KeyRun& run : seen->runs()) {
              const auto first = weights.begin() + static_cast<Index>(r) * look.head.n.T_k;
              w.insert(w.end(), first + run.first, first + run.end);
            }
            textbook::weighted_sum(w, seen->keys().v, o_t);
          },
          "the same results", true};
}

WrongRows without_last_key(const Trial& n) {
  if (all_see_one_key(n)) return {nullptr, "one key"};
  return attention_to(
      n,
      [](std::vector<KeyRun>& runs, Index) {
        if (runs.size() == 1 && runs.back().count() == 1) return;
        if (--runs.back().end == runs.back().first) runs.pop_back();
      },
      "it has no weight");
}

WrongRows swapped(const Trial& n) {
  Head head = n.look.head;
  if (head.n.d_k != head.n.d_v) return {};
  std::swap(head.k, head.v);
  return attention_of(n, head, "they are equal");
}

/// exp of the scores as they are: where it overflows, or all are 0, the row is NaN.
WrongRows without_maximum(const Trial& n) {
  const Dtype sums = n.arithmetic.sums;
  const double most = sums == Dtype::float64 ? 709.78 : sums == Dtype::float16 ? 11.09 : 88.72;
  const double least = sums == Dtype::float64 ? -745.1 : sums == Dtype::float16 ? -17.3 : -103.9;
  const auto seen = std::make_shared<KeysOfQueries>(n.look.head);
  return {[&look = n.look, seen, most, least](std::size_t r, Values& o_t) {
            o_t = look.rows[r].output;
            seen->look(look.rows[r].t);
            Values s, w;
            textbook::scores(query(look.head, look.rows[r].t).data(), seen->keys(), seen->bias(),
                             s);
            const double largest = textbook::softmax(s, w);
            if (largest > most || largest < least) std::ranges::fill(o_t, std::nan(""));
          },
          "no score above " + std::to_string(static_cast<int>(most))};
}

WrongRows without_mask(const Trial& n) {
  const Head& head = n.look.head;
  if (!hides(head.visible)) return {};
  if (all_rows(n, [&](Index t) { return n.look.key_count(t) == head.n.T_k; }))
    return {nullptr, "it hides nothing"};
  Visible all;
  if (head.visible.bias) all.bias = head.visible.bias;
  return attention_of(n, with_visible(head, all), "what it hides has no weight");
}

WrongRows mask_off_by_one(const Trial& n) {
  if (!hides(n.look.head.visible)) return {};
  return attention_to(
      n,
      [](std::vector<KeyRun>& runs, Index T_k) {
        if (runs.back().end < T_k)
          ++runs.back().end;
        else if (runs.front().first > 0)
          --runs.front().first;
      },
      "it hides nothing");
}

WrongRows other_corner(const Trial& n) {
  const Head& head = n.look.head;
  Visible visible = head.visible;
  if (visible.left == Visible::kOpen && visible.right == Visible::kOpen) return {};
  const Index bottom_right =
      std::min(visible.key_length, head.n.T_k) - std::min(visible.query_length, head.n.T_q);
  if (bottom_right == 0 && visible.offset == 0) return {nullptr, "T_q = T_k"};
  visible.offset = visible.offset == 0 ? bottom_right : 0;
  return attention_of(n, with_visible(head, visible), "the same results");
}

WrongRows without_the_bias(const Trial& n) {
  const Head& head = n.look.head;
  if (!head.visible.bias) return {};
  if (all_see_one_key(n)) return {nullptr, "one key"};
  return attention_of(n, with_visible(head, without_bias(head.visible)),
                      "it is the same for all keys");
}

WrongRows without_softcap(const Trial& n) {
  if (!n.look.head.has_softcap()) return {};
  if (all_see_one_key(n)) return {nullptr, "one key"};
  Head head = n.look.head;
  head.softcap = HUGE_VAL;
  return attention_of(n, head, "it changes no score");
}

WrongRows without_sink(const Trial& n) {
  if (!n.look.head.has_sink()) return {};
  Head head = n.look.head;
  head.sink = -HUGE_VAL;
  return attention_of(n, head, "it has no weight");
}

constexpr Candidate kCandidates[] = {
    {"zeros", zeros},
    {"mean of v", mean_of_v},
    {"unscaled scores", unscaled, true},
    {"softmax over the queries", softmax_over_queries, true},
    {"without the last key", without_last_key, true},
    {"k and v swapped", swapped},
    {"without a maximum", without_maximum, true},
    {"without the mask", without_mask, true},
    {"mask off by one", mask_off_by_one, true},
    {"other corner", other_corner},
    {"without the bias", without_the_bias, true},
    {"without the cap", without_softcap, true},
    {"without the sink", without_sink, true},
};

}  // namespace

std::span<const Candidate> candidates() {
  return kCandidates;
}

}  // namespace sdpa
