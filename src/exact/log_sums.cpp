#include "exact/log_sums.h"

#include "base/parallel.h"
#include "exact/big_float.h"
#include "exact/known_rows.h"
#include "exact/numerators.h"
#include "exact/open_rows.h"
#include "exact/real_score.h"
#include "exact/real_scores.h"
#include "stage/stage.h"

#include <cmath>
#include <optional>
#include <vector>

namespace sdpa {

namespace {

/// Rounds the number between `value` - error and value + error; NaN if that is not one number.
double round_within(const BigFloat& value, const BigFloat& error, Dtype dtype) {
  BigFloat below(mpfr_get_prec(static_cast<mpfr_srcptr>(value))),
      above(mpfr_get_prec(static_cast<mpfr_srcptr>(value)));
  mpfr_sub(below, value, error, MPFR_RNDD);
  mpfr_add(above, value, error, MPFR_RNDU);
  const double lower = round_real(below, dtype), upper = round_real(above, dtype);
  return lower == upper ? lower : std::nan("");
}

/// No score, its factors being finite, lies nearer than 2^-kNearest to a boundary of rounding b without
/// being on it, with much room: where the root r of the scale is an integer, score and b are multiples of
/// 2^-3222 / r. Else the score is x / sqrt(n) plus a bias, from which b is y away; |x^2 - n y^2| is a
/// multiple of 2^-6444, not 0, and |x / sqrt(n) - y| is that over sqrt(n) (|x| + sqrt(n) |y|), which is
/// less than 2^3200.
constexpr mpfr_prec_t kNearest = 20000;

class LogSums {
 public:
  LogSums(std::span<const MeasuredRows> parts, int threads, Array& log_sums)
      : dtype_(log_sums.dtype()),
        threads_(threads),
        log_sums_(log_sums),
        rows_(parts, log_sums.shape()[0], {}, dtype_) {}

  void climb() {
    const kernel::InstructionSet& set = kernel::instruction_set();
    std::vector<RowTask> tasks = rows_.tasks();
    if (dtype_ != Dtype::float64) {
      run(set.float64, tasks);
      tasks.clear();
      for (const OpenRow& row : open_rows_.take()) tasks.push_back(rows_[row.row].task);
    }
    run(set.double_double, tasks);
    const std::vector<OpenRow> last = open_rows_.take();
    parallel_for(threads_, std::ssize(last),
                 [&](Index i) { settle(rows_[last[static_cast<std::size_t>(i)].row].task); });
  }

 private:
  void run(const kernel::Kernel<double>& kernel, std::span<const RowTask> tasks) {
    StageSink<double> sink;
    sink.outputs = [&](const StageRows<double>& results) {
      free_reals_with_thread();
      for (std::size_t r = 0; r < results.rows.size(); ++r) {
        const double value = rounded(results, r, kernel.error);
        if (std::isnan(value))
          open_rows_.add({results.rows[r].row, {0}, {}});
        else
          store(log_sums_, results.rows[r].row, 0, &value, 1);
      }
    };
    run_stage(kernel, tasks, threads_, sink);
  }

  /// NaN if the kernel's results leave it open.
  double rounded(const StageRows<double>& results, std::size_t r,
                 const kernel::ArithmeticError& arithmetic) const {
    // x + ln(S), where x is the score that was subtracted, a number of the kernel's as it is, and S is off by
    // a relative error e: ln(S) is off by at most e / (1 - e). What MPFR leaves out is 2^-150 of both.
    constexpr mpfr_prec_t kPrecision = 160;
    constexpr double kLargestError = 0x1p-8;
    const Head& head = *results.rows[r].head;
    const double e = rows_.bound(results, r, arithmetic).sum_of_numerators();
    // What numerators are relative to, the kernel says of scores only.
    if (!(e < kLargestError) || !head.is_scale_moderate() || head.has_sink()) return std::nan("");
    BigFloat x(kPrecision), S(kPrecision), value(kPrecision), error(64), size(64);
    mpfr_set_d(S, results.of_rows.sums[r], MPFR_RNDN);
    if (results.of_rows.sums_low != nullptr)
      mpfr_add_d(S, S, results.of_rows.sums_low[r], MPFR_RNDN);
    mpfr_log(S, S, MPFR_RNDN);
    if (head.visible.bias || head.has_softcap()) {
      mpfr_set_d(x, results.of_rows.largest[r], MPFR_RNDN);
    } else {
      mpfr_set_ui(x, static_cast<unsigned long>(head.scale.root), MPFR_RNDN);
      mpfr_rec_sqrt(x, x, MPFR_RNDN);
      mpfr_mul_d(x, x, head.scale.factor, MPFR_RNDN);
      mpfr_mul_d(x, x, results.of_rows.largest[r], MPFR_RNDN);
    }
    mpfr_add(value, x, S, MPFR_RNDN);
    mpfr_abs(size, x, MPFR_RNDU);
    mpfr_abs(error, S, MPFR_RNDU);
    mpfr_add(error, error, size, MPFR_RNDU);
    mpfr_mul_2si(error, error, -150, MPFR_RNDU);
    mpfr_add_d(error, error, e * (1 + 2 * kLargestError), MPFR_RNDU);
    return round_within(value, error, dtype_);
  }

  /// By real numbers.
  void settle(const RowTask& task) {
    free_reals_with_thread();
    const std::vector<Index> keys = task.head->visible.keys(task.t, task.head->n.T_k);
    const double value =
        keys.size() == 1 && !task.head->has_sink() ? score(task, keys[0]) : log_sum(task, keys);
    store(log_sums_, task.row, 0, &value, 1);
  }

  double score(const RowTask& task, Index j) const {
    const Head& head = *task.head;
    std::vector<double> q_t(static_cast<std::size_t>(head.n.d_k)), k_j(q_t.size());
    head.read_query(task.t, q_t.data());
    head.k.read_rows(j, 1, k_j.data());
    double bias = 0;
    if (head.visible.bias) head.visible.bias->read(task.t, j, 1, &bias);
    return round_score(head, q_t.data(), k_j.data(), bias, dtype_);
  }

  double log_sum(const RowTask& task, const std::vector<Index>& keys) const {
    RealScores scores(*task.head, task.t, keys);
    std::optional<double> above_boundary;  // what it is if further digits tell nothing
    for (mpfr_prec_t precision = 256; !above_boundary; precision *= 2) {
      Numerators numerators(scores, 0, precision);
      GroupSum sum(numerators);
      BigFloat count(64);
      for (const KeyGroup& group : scores.groups()) {
        mpfr_set_ui(count, static_cast<unsigned long>(group.count()), MPFR_RNDN);
        sum.add(static_cast<std::size_t>(&group - scores.groups().data()), count);
      }

      // The sum is at least 1: its absolute error is one of the logarithm, up to what the last factor has
      // room for.
      BigFloat value(precision), x(precision), error(64), size(64);
      mpfr_log(value, sum.value(), MPFR_RNDN);
      mpfr_abs(size, value, MPFR_RNDU);
      scores.first(x, error);
      mpfr_add(value, value, x, MPFR_RNDN);
      mpfr_abs(x, value, MPFR_RNDU);
      mpfr_add(size, size, x, MPFR_RNDU);
      mpfr_mul(size, size, unit(precision), MPFR_RNDU);
      mpfr_add(error, error, size, MPFR_RNDU);
      mpfr_add(error, error, sum.error(), MPFR_RNDU);
      mpfr_mul_2ui(error, error, 1, MPFR_RNDU);
      // A single largest score, which the others change by less than half of that distance, as do the
      // errors: it lies on a boundary itself, and the logarithm above that.
      if (scores.groups()[0].count() == 1 &&
          mpfr_cmp_ui(static_cast<mpfr_srcptr>(sum.value()), 1) == 0 &&
          mpfr_cmp_ui_2exp(static_cast<mpfr_srcptr>(error), 1, -kNearest - 4) < 0) {
        mpfr_add(x, value, error, MPFR_RNDU);
        above_boundary = round_real(x, dtype_);
      }
      if (const double rounded = round_within(value, error, dtype_); !std::isnan(rounded))
        return rounded;
      if (!scores.are_algebraic() && precision > kLargestCappedPrecision) throw_undecided();
    }
    return *above_boundary;
  }

  const Dtype dtype_;
  const int threads_;
  Array& log_sums_;
  KnownRows rows_;
  OpenRows open_rows_;
};

}  // namespace

void exact_log_sums(std::span<const MeasuredRows> parts, int threads, Array& log_sums) {
  LogSums(parts, threads, log_sums).climb();
}

}  // namespace sdpa
