#include "report/textbook.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sdpa::textbook {

Values values_of(const MatrixView& matrix) {
  Values all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  matrix.read_rows(0, matrix.rows(), all.data());
  return all;
}

Values transposed(const MatrixView& matrix) {
  Values all(static_cast<std::size_t>(matrix.rows() * matrix.columns()));
  for (Index i = 0; i < matrix.columns(); ++i)
    matrix.read_column(i, all.data() + i * matrix.rows());
  return all;
}

namespace {

Index count(std::span<const KeyRun> runs) {
  Index keys = 0;
  for (const KeyRun& run : runs) keys += run.count();
  return keys;
}

}  // namespace

Keys::Keys(const Head& head, std::span<const KeyRun> runs)
    : T_k(count(runs) + head.has_sink()),
      d_k(head.n.d_k),
      d_v(head.n.d_v),
      scale(head.score_scale_high),
      softcap(head.softcap),
      k_transposed(static_cast<std::size_t>(T_k * d_k)),
      v(static_cast<std::size_t>(T_k * d_v)),
      column_sizes(static_cast<std::size_t>(d_v)) {
  Index at = 0;
  Values k_j(static_cast<std::size_t>(d_k));
  for (const KeyRun& run : runs) {
    head.v.read_rows(run.first, run.count(), v.data() + at * d_v);
    for (Index j = run.first; j < run.end; ++j, ++at) {
      head.k.read_rows(j, 1, k_j.data());
      for (Index i = 0; i < d_k; ++i)
        k_transposed[static_cast<std::size_t>(i * T_k + at)] = k_j[static_cast<std::size_t>(i)];
    }
  }
  const double* v_jd = v.data();
  for (Index j = 0; j < T_k; ++j)
    for (double& size : column_sizes) size += std::fabs(*v_jd++);
}

double capped(double s, double softcap) {
  return softcap < HUGE_VAL ? softcap * std::tanh(s / softcap) : s;
}

void scores(const double* q_t, const Keys& keys, const Values& bias, Values& s) {
  s.assign(static_cast<std::size_t>(keys.T_k), 0.0);
  const double* k_ij = keys.k_transposed.data();
  for (Index i = 0; i < keys.d_k; ++i, k_ij += s.size())
    for (std::size_t j = 0; j < s.size(); ++j) s[j] += q_t[i] * k_ij[j];
  for (double& s_j : s) s_j = capped(s_j * keys.scale, keys.softcap);
  for (std::size_t j = 0; j < bias.size(); ++j) s[j] += bias[j];
}

double softmax(const Values& s, Values& w) {
  double largest = s[0];
  for (double s_j : s)
    if (!(s_j <= largest)) largest = s_j;
  w.resize(s.size());
  double sum = 0;
  for (std::size_t j = 0; j < s.size(); ++j) sum += w[j] = std::exp(s[j] - largest);
  for (double& w_j : w) w_j /= sum;
  return largest;
}

void weighted_sum(const Values& w, const Values& v, Values& o_t) {
  std::fill(o_t.begin(), o_t.end(), 0.0);
  const double* v_j = v.data();
  for (double w_j : w)
    for (double& o_td : o_t) o_td += w_j * *v_j++;
}

double variance(const Values& w, const double* x) {
  constexpr std::size_t kLanes = 8;  // sums side by side
  double mean[kLanes] = {}, mean_square[kLanes] = {};
  const auto add = [&](std::size_t lane, std::size_t j) {
    const double from_first = x[j] - x[0];
    mean[lane] += w[j] * from_first;
    mean_square[lane] += w[j] * from_first * from_first;
  };
  std::size_t j = 0;
  for (; j + kLanes <= w.size(); j += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, j + lane);
  for (; j < w.size(); ++j) add(0, j);
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    mean[0] += mean[lane];
    mean_square[0] += mean_square[lane];
  }
  return std::max(0.0, mean_square[0] - mean[0] * mean[0]);
}

void KeysOfQueries::look(Index t) {
  look_at(head_.visible.runs(t, head_.n.T_k), t);
}

void KeysOfQueries::look_at(std::vector<KeyRun> runs, Index t) {
  gather(std::move(runs));
  if (is_empty() || (!head_.visible.bias && !head_.has_sink())) return;
  bias_.resize(static_cast<std::size_t>(keys_->T_k));
  if (head_.has_sink()) bias_.back() = head_.sink;
  if (!head_.visible.bias) return;
  double* bias = bias_.data();
  for (const KeyRun& run : runs_) {
    head_.visible.bias->read(t, run.first, run.count(), bias);
    bias += run.count();
  }
}

void KeysOfQueries::look_at_all() {
  gather({{0, head_.n.T_k}});
}

void KeysOfQueries::gather(std::vector<KeyRun> runs) {
  bias_.clear();
  has_new_keys_ = !keys_ || runs != runs_;
  if (!has_new_keys_) return;
  runs_ = std::move(runs);
  keys_.reset();
  if (!runs_.empty()) keys_.emplace(head_, runs_);
}

}  // namespace sdpa::textbook
