#include "attention/score_rows.h"

#include "attention/infinite_scores.h"
#include "base/parallel.h"
#include "exact/big_sum.h"
#include "exact/log_sums.h"
#include "exact/real_score.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdpa {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double bias_of(const Head& head, Index t, Index j) {
  const std::optional<Plane>& plane = head.visible.bias;
  return plane ? plane->array.at(plane->position(t, j)) : 0;
}

bool all_finite(const std::vector<double>& row) {
  return std::ranges::all_of(row, [](double x) { return std::isfinite(x); });
}

}  // namespace

ScoreRows::ScoreRows(const Heads& heads, int threads)
    : heads_(heads),
      threads_(threads),
      dtype_(heads.dtype() == Dtype::float64 ? Dtype::float64 : Dtype::float32) {}

template <class Act>
void ScoreRows::for_each_head(Index first, Index count, Act act) {
  const Problem& problem = heads_.problem();
  for (Index row = first; row < first + count;) {
    const Index h = problem.head_of_row(row);
    const RowRange of_head = problem.rows_of(h);
    const Index end = std::min(of_head.end(), first + count);
    act(h, row - of_head.first, end - row, row - first);
    row = end;
  }
}

const ScoreRows::KnownHead& ScoreRows::learn(Index number) {
  if (known_ && known_->number == number) return *known_;
  KnownHead known{number, heads_.head(number), {}, {}, true, {}};
  Head& head = known.head;
  head.v = MatrixView(Array(Shape({head.n.T_k, 0}), Dtype::float64));
  head.n.d_v = 0;
  if (head.visible.is_everything())
    known.seen = {{0, head.n.T_k}};
  else
    known.seen = survey(head.visible, head.n.T_q, head.n.T_k, threads_).seen_runs(0, head.n.T_k);
  known.k_finite.assign(static_cast<std::size_t>(head.n.T_k), 1);
  for (const KeyRun& run : known.seen)
    for (Index j = run.first; j < run.end; ++j)
      if (!head.k.rows_finite(j, 1))
        known.k_finite[static_cast<std::size_t>(j)] = known.all_finite = false;
  if (known.all_finite) known.norms = measure_norms(head.k, head.v, known.seen, threads_);
  return known_.emplace(std::move(known));
}

Array ScoreRows::log_sums(Index first, Index count) {
  Array results(Shape({count, 1}), dtype_);
  for_each_head(first, count, [&](Index h, Index t, Index rows, Index at) {
    log_sums_of(learn(h), t, rows, at, results);
  });
  return results.part(0, Shape({count}));
}

void ScoreRows::log_sums_of(const KnownHead& known, Index t, Index count, Index at,
                            Array& results) {
  const Head& head = known.head;
  std::vector<MeasuredRows> finite;
  std::vector<Index> others;
  for (Index r = 0; r < count; ++r) {
    const std::vector<KeyRun> runs = head.visible.runs(t + r, head.n.T_k);
    const bool is_finite = known.all_finite && head.q.rows_finite(t + r, 1) && !runs.empty() &&
                           head.sink < kInfinity &&
                           std::ranges::all_of(runs, [&](const KeyRun& run) {
                             if (!head.visible.bias) return true;
                             for (Index j = run.first; j < run.end; ++j)
                               if (!std::isfinite(bias_of(head, t + r, j))) return false;
                             return true;
                           });
    if (!is_finite)
      others.push_back(r);
    else if (!finite.empty() && finite.back().rows.first + finite.back().rows.count == t + r)
      ++finite.back().rows.count;
    else
      finite.push_back({{&head, t + r, 1, at + r}, &known.norms});
  }
  exact_log_sums(finite, threads_, results);
  for (Index r : others) {
    const double value = log_sum_of_row(known, t + r);
    store(results, at + r, 0, &value, 1);
  }
}

/// Of a row with numbers that are not finite, or without a key.
double ScoreRows::log_sum_of_row(const KnownHead& known, Index t) {
  const Head& head = known.head;
  if (t >= head.visible.query_length) return -kInfinity;
  std::vector<double> biases;
  std::vector<Index> keys;
  double largest = head.sink < kInfinity ? -kInfinity : head.sink;
  if (std::isnan(largest)) return largest;
  for (Index j : head.visible.keys(t, head.n.T_k)) {
    const double bias = bias_of(head, t, j), dot = dot_class(head, t, j);
    const bool is_capped = head.has_softcap() && !std::isnan(dot);
    const double s = (is_capped ? 0 : dot) + (std::isfinite(bias) ? 0 : bias);
    if (std::isnan(s)) return s;
    if (s != 0) {
      largest = std::max(largest, s);
      continue;
    }
    keys.push_back(j);
    biases.push_back(bias);
  }
  if (largest > 0) return largest;
  if (keys.empty()) return head.sink;

  const auto [q, k] = head.has_softcap()
                          ? capped_operands(head, t, keys)
                          : std::pair(head.q.part(t, 1).array(), gather_rows(head.k, keys));
  Head row = head_like(head, q, k, Array(Shape({std::ssize(keys), 0}), Dtype::float64));
  if (head.visible.bias) {
    Array of_keys(Shape({std::ssize(keys)}), Dtype::float64);
    store_rounded(biases.data(), std::ssize(biases), Dtype::float64, of_keys.mutable_data());
    row.visible.bias = Plane{of_keys, 0, 0, 1};
  }
  const Norms norms = measure_norms(row.k, row.v, 1);
  Array result(Shape({1, 1}), dtype_);
  const MeasuredRows rows{{&row, 0, 1, 0}, &norms};
  exact_log_sums({&rows, 1}, 1, result);
  return result.at(0);
}

Array ScoreRows::scores(Index first, Index count, ScoreStage after) {
  const Index T_k = heads_.problem().n.T_k;
  Array results(Shape({count, T_k}), dtype_);
  for_each_head(first, count, [&](Index h, Index first_query, Index rows, Index at) {
    Head head = heads_.head(h);
    if (after == ScoreStage::scale) head.softcap = kInfinity;
    const bool masks = after == ScoreStage::mask && !head.visible.is_everything();
    parallel_for(threads_, rows, [&](Index r) {
      const Index t = first_query + r;
      std::vector<double> q_t(static_cast<std::size_t>(head.n.d_k)), k_j(q_t.size());
      std::vector<double> scores(static_cast<std::size_t>(T_k), -kInfinity);
      head.read_query(t, q_t.data());
      const bool is_finite = all_finite(q_t);
      const auto add = [&](const KeyRun& run) {
        for (Index j = run.first; j < run.end; ++j) {
          head.k.read_rows(j, 1, k_j.data());
          const double bias = masks ? bias_of(head, t, j) : 0;
          double& score = scores[static_cast<std::size_t>(j)];
          const double dot = is_finite && all_finite(k_j) ? 0 : dot_class(head, t, j);
          const double added = std::isfinite(bias) ? 0 : bias;
          score = dot + added;
          if (head.has_softcap() && dot != 0 && !std::isnan(dot)) {
            const double terms[] = {std::copysign(head.softcap, dot), bias}, ones[] = {1, 1};
            score = added != 0 ? added : round_real(big_dot(terms, ones, 2), dtype_);
          }
          if (dot == 0 && added == 0)
            score = round_score(head, q_t.data(), k_j.data(), bias, dtype_);
        }
      };
      if (masks)
        std::ranges::for_each(head.visible.runs(t, T_k), add);
      else
        add({0, T_k});
      store(results, at + r, 0, scores.data(), T_k);
    });
  });
  return results;
}

}  // namespace sdpa
