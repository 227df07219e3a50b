#include "exact/known_rows.h"

#include "array/float_format.h"
#include "base/parallel.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sdpa {

namespace {

/// Where numerators may be off by so much relatively, most rows have values that stay open.
double poor_error(Dtype dtype) {
  return std::ldexp(1, -float_format(dtype).precision - 14);
}

}  // namespace

double gap_of_zero(Dtype dtype) {
  return dtype == Dtype::float64 ? 746 : 104;
}

KnownRows::KnownRows(std::span<const MeasuredRows> parts, Index rows,
                     std::span<const Index> columns, Dtype dtype)
    : dtype_(dtype), rows_(static_cast<std::size_t>(rows)) {
  for (const MeasuredRows& part : parts) {
    const Head& head = *part.rows.head;
    std::vector<double> q_t(static_cast<std::size_t>(head.n.d_k));
    for (Index r = 0; r < part.rows.count; ++r) {
      head.read_query(part.rows.first + r, q_t.data());
      const QueryNorms query = query_norms(*part.norms, q_t.data());
      const Index row = part.rows.at + r, t = part.rows.first + r;
      const double scores = score_bound(head, *part.norms, query.norm);
      const RowBias bias = row_bias(head, t, head.capped(scores));
      rows_[static_cast<std::size_t>(row)] = {
          {&head, t, row, columns, head.capped(scores) + bias.largest,
           dot_power(*part.norms, query.norm)},
          part.norms,
          query,
          std::ranges::all_of(q_t, [](double q) { return q == 0; }),
          bias.relevant};
    }
  }
}

std::vector<RowTask> KnownRows::tasks() const {
  std::vector<RowTask> tasks;
  for (const KnownRow& row : rows_)
    if (row.norms != nullptr) tasks.push_back(row.task);
  return tasks;
}

void KnownRows::look_for_near_keys(std::span<const RowTask> tasks,
                                   const kernel::ArithmeticError& error, int threads) {
  constexpr std::size_t kRows = 32;  // that share the reading of keys
  std::vector<std::vector<Index>> shares;
  for (const RowTask& task : tasks) {
    const KnownRow& row = (*this)[task.row];
    if (row.near || !task.head->is_plain() ||
        numerator_error(error, *task.head, *row.norms, row.query) < poor_error(dtype_))
      continue;
    if (shares.empty() || shares.back().size() == kRows ||
        (*this)[shares.back()[0]].task.head != task.head)
      shares.emplace_back();
    shares.back().push_back(task.row);
  }
  parallel_for(threads, std::ssize(shares), [&](Index i) {
    const std::vector<Index>& share = shares[static_cast<std::size_t>(i)];
    const KnownRow& first = (*this)[share[0]];
    std::vector<Index> queries;
    for (Index row : share) queries.push_back((*this)[row].task.t);
    std::vector<NearKeys> near =
        near_keys(*first.task.head, *first.norms, queries, gap_of_zero(dtype_));
    for (std::size_t r = 0; r < share.size(); ++r)
      rows_[static_cast<std::size_t>(share[r])].near = std::move(near[r]);
  });
}

RowBound KnownRows::bound(const StageRows<double>& results, std::size_t r,
                          const kernel::ArithmeticError& error) const {
  const KnownRow& row = (*this)[results.rows[r].row];
  const Head& head = *row.task.head;
  const double sum = results.of_rows.sums[r], squares = results.of_rows.squares[r];
  if (row.near) return RowBound(error, head, *row.norms, *row.near, results.bounded, sum, squares);
  return RowBound(error, head, *row.norms, row.query, results.bounded, sum, squares, row.bias);
}

}  // namespace sdpa
