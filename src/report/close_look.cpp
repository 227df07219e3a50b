#include "report/close_look.h"

#include "base/parallel.h"
#include "report/row_error.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

namespace {

using textbook::Values;

/// How many rows of T_q. A close look costs as much as many rows of attention, so of a head that has
/// few it takes fewer; see kernel_bound.cpp for the margin.
Index close_rows_of(Index T_q) {
  return std::clamp<Index>(T_q / 16, 4, 8) + std::clamp<Index>(T_q / 128 - 8, 0, 8);
}

/// sqrt(sum_i x_i^2) of a row; not finite if an element is not.
double norm_of_row(const MatrixView& matrix, Index row, Values& buffer) {
  buffer.resize(static_cast<std::size_t>(matrix.columns()));
  matrix.read_rows(row, 1, buffer.data());
  double sum = 0;
  for (double x : buffer) sum += x * x;
  return std::sqrt(sum);
}

/// Rows to look at closely, in ascending order: finite ones that see a key, as far as there are any.
std::vector<Index> rows_to_look_at(const CloseLook& look, const Values& q_norms) {
  const Index T_q = look.head.n.T_q;
  const Index count = close_rows_of(T_q) + (look.survey ? 2 : 0);
  std::vector<Index> rows;
  for (Index t = 0; t < T_q; ++t)
    if (std::isfinite(q_norms[static_cast<std::size_t>(t)]) && look.key_count(t) != 0)
      rows.push_back(t);
  const auto finite = static_cast<Index>(rows.size());
  if (finite <= count) return rows;
  std::vector<Index> some;
  const auto add_extremes = [&](auto of_row) {
    const auto [smallest, largest] = std::ranges::minmax_element(rows, {}, of_row);
    some.push_back(*smallest);
    some.push_back(*largest);
  };
  add_extremes([&](Index t) { return q_norms[static_cast<std::size_t>(t)]; });
  if (look.survey) add_extremes([&](Index t) { return look.key_count(t); });
  // Not at equal distances: those of blocks would meet the same place of each.
  const Index others = count - std::ssize(some);
  for (Index i = 0; i < others; ++i) {
    const Index row = i * finite / others + i * 7919 % (finite / others);
    some.push_back(rows[static_cast<std::size_t>(row)]);
  }
  std::ranges::sort(some);
  some.erase(std::unique(some.begin(), some.end()), some.end());
  return some;
}

/// The largest norm of a key that some query sees.
double largest_key(const CloseLook& look) {
  double largest = 0;
  Values k_j;
  for (Index j = 0; j < look.head.n.T_k; ++j) {
    if (look.survey && !look.survey->is_seen(j)) continue;
    const double norm = norm_of_row(look.head.k, j, k_j);
    if (!(norm <= largest)) largest = norm;
  }
  return largest;
}

/// What is found at some of the rows.
struct Part {
  Values weights;           // their sum, [T_k]
  Values value_sizes;       // [d_v]
  double largest_bias = 0;  // of keys that have a weight
};

void add_sizes(const textbook::Keys& keys, Values& sizes) {
  sizes.resize(static_cast<std::size_t>(keys.d_v));
  const double* v_jd = keys.v.data();
  for (Index j = 0; j < keys.T_k; ++j)
    for (double& size : sizes) {
      const double here = std::fabs(*v_jd++);
      if (here > size && here < HUGE_VAL) size = here;
    }
}

/// Looks at these rows, and adds what is found.
void look_at(std::span<const Index> rows, const Arithmetic& arithmetic, const Head& head,
             CloseRow* found, Part& part) {
  RowError row(arithmetic);
  textbook::KeysOfQueries seen(head);
  std::optional<EqualKeys> equal;
  Values q_t(static_cast<std::size_t>(head.n.d_k));
  part.weights.resize(static_cast<std::size_t>(head.n.T_k));
  for (Index t : rows) {
    seen.look(t);
    if (seen.has_new_keys() || !seen.bias().empty()) equal.emplace(seen.keys(), seen.bias());
    if (seen.has_new_keys()) add_sizes(seen.keys(), part.value_sizes);
    head.read_query(t, q_t.data());
    row.compute(seen.keys(), *equal, q_t.data(), seen.bias());
    *found++ = {t, row.output(), row.error(), with_rounding(row.error(), row.output(), arithmetic)};
    std::size_t at = 0;
    for (const KeyRun& run : seen.runs())
      for (Index j = run.first; j < run.end; ++j, ++at) {
        const double w = row.weights()[at];
        if (!(w > 0)) continue;
        part.weights[static_cast<std::size_t>(j)] += w;
        if (!seen.bias().empty())
          part.largest_bias = std::max(part.largest_bias, std::fabs(seen.bias()[at]));
      }
  }
}

}  // namespace

Values with_rounding(Values errors, std::span<const double> o, const Arithmetic& arithmetic) {
  for (std::size_t at = 0; at < o.size(); ++at) {
    const double before = errors[at] + arithmetic.step;
    const double all = before + ulp(std::fabs(o[at]) + before, arithmetic.output) / 2;
    errors[at] = all < HUGE_VAL ? all : HUGE_VAL;
  }
  return errors;
}

CloseRow look_at_row(const Head& head, Index t, const Arithmetic& arithmetic) {
  CloseRow row;
  Part part;
  look_at({&t, 1}, arithmetic, head, &row, part);
  return row;
}

CloseLook look_closely(const Head& head, const Arithmetic& arithmetic, int threads) {
  CloseLook look{head};
  if (!head.visible.is_everything())
    look.survey = survey(head.visible, head.n.T_q, head.n.T_k, threads);
  Values q_norms, buffer;
  for (Index t = 0; t < head.n.T_q; ++t) q_norms.push_back(norm_of_row(head.q, t, buffer));
  const std::vector<Index> rows = rows_to_look_at(look, q_norms);
  look.rows.resize(rows.size());
  look.mean_weights.resize(static_cast<std::size_t>(head.n.T_k));
  if (rows.empty()) return look;

  constexpr std::size_t kRowsOfATask = 8;  // which share gathered keys
  std::vector<Part> parts((rows.size() + kRowsOfATask - 1) / kRowsOfATask);
  parallel_for(threads, std::ssize(parts), [&](Index task) {
    const std::size_t first = static_cast<std::size_t>(task) * kRowsOfATask;
    look_at(std::span(rows).subspan(first, std::min(kRowsOfATask, rows.size() - first)), arithmetic,
            head, look.rows.data() + first, parts[static_cast<std::size_t>(task)]);
  });
  double largest_bias = 0;
  look.value_sizes.resize(static_cast<std::size_t>(head.n.d_v));
  for (const Part& part : parts) {
    for (std::size_t d = 0; d < look.value_sizes.size(); ++d)
      look.value_sizes[d] = std::max(look.value_sizes[d], part.value_sizes[d]);
    largest_bias = std::max(largest_bias, part.largest_bias);
    for (std::size_t j = 0; j < part.weights.size(); ++j)
      look.mean_weights[j] += part.weights[j] / static_cast<double>(rows.size());
  }

  // float32 serves where it holds the scores to about a hundredth, and the operands.
  double largest_q = 0;
  for (double norm : q_norms) largest_q = std::max(largest_q, norm);  // not of NaN
  const double largest_k = largest_key(look);
  const double score_error = (largest_q * largest_k + largest_bias) * 0x1p-24;
  if (!(score_error < 0x1p-6 && largest_k < 0x1p60 && largest_q < 0x1p60))
    look.precision = Precision::float64;
  return look;
}

Values errors_of_mean(const Head& head, const Arithmetic& arithmetic) {
  textbook::KeysOfQueries all(head);
  all.look_at_all();
  const Values q_t(static_cast<std::size_t>(head.n.d_k), 0.0);
  RowError row(arithmetic);
  row.compute(all.keys(), EqualKeys(all.keys(), {}), q_t.data(), {});
  return row.error();
}

}  // namespace sdpa
