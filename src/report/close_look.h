#pragma once

#include "attention/attention.h"
#include "attention/mask.h"
#include "report/arithmetic.h"
#include "report/textbook.h"

#include <optional>
#include <span>
#include <vector>

namespace sdpa {

/// A row of a head that was looked at closely.
struct CloseRow {
  Index t;
  textbook::Values output;   ///< [d_v]  right, in float64 arithmetic
  textbook::Values error;    ///< [d_v]  that a kernel may have before it stores the row
  textbook::Values allowed;  ///< [d_v]  and when it has
};

/// What is known of a head closely.
struct CloseLook {
  Head head;
  std::optional<Survey> survey = std::nullopt;  ///< of what queries see; absent: every key
  std::vector<CloseRow> rows = {};  ///< in ascending order; of rows that see a key all, if few

  /// The plain arithmetic that tells the scores apart as well as a sum of weights needs it.
  Precision precision = Precision::float32;

  textbook::Values mean_weights = {};  ///< [T_k]  over these rows
  textbook::Values value_sizes = {};   ///< [d_v]  largest |v_jd| that one of them sees

  /// How many keys query t sees.
  Index key_count(Index t) const {
    return survey ? survey->counts[static_cast<std::size_t>(t)] : head.n.T_k;
  }

  /// Whether query t is behind its length, so that its row is nobody's.
  bool is_behind(Index t) const { return t >= head.visible.query_length; }
};

/// Looks at the head, of which q, k, v and what each query sees are kept.
CloseLook look_closely(const Head& head, const Arithmetic& arithmetic, int threads);

/// Looks at row t alone, which sees a key.
CloseRow look_at_row(const Head& head, Index t, const Arithmetic& arithmetic);

/// The errors that a kernel may have in the mean of all rows of v, which some store in rows that see
/// no key.
textbook::Values errors_of_mean(const Head& head, const Arithmetic& arithmetic);

/// Errors with what a kernel adds to them when it stores the results o.
textbook::Values with_rounding(textbook::Values errors, std::span<const double> o,
                               const Arithmetic& arithmetic);

}  // namespace sdpa
