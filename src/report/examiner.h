#pragma once

#include "report/suspect.h"
#include "report/variant_rows.h"

#include <optional>
#include <string>
#include <vector>

namespace sdpa {

/// A row of the output that is looked at closely.
struct WitnessRow {
  Index head, t;
  textbook::Values actual;
  VariantRow right = {};
  textbook::Values allowed = {};  ///< [d_v]  about how far the row may be from that of its kernel
};

/// Of a fault of all heads and rows.
inline constexpr const char* kEverywhere = "everywhere";

/// What speaks for a suspect.
struct Evidence {
  std::string where;      ///< kEverywhere, or the heads or rows concerned
  Index values = 0;       ///< that were judged wrong, and are what the suspect gives
  Index rows = 0;         ///< compared with it
  bool all_rows = false;  ///< whether these are all that were judged wrong
};

/// Compares an output with what wrong kernels give: first on a few rows, most telling first.
class Examiner {
 public:
  /// Refers to `judged` as long as it lives.
  explicit Examiner(const JudgedOutput& judged);

  const JudgedOutput& judged() const { return rows_.judged(); }
  const VariantRows& rows() const { return rows_; }

  /// Judged wrong, the worst of each head first.
  const std::vector<WitnessRow>& wrong() const { return wrong_; }

  /// The first of them, at most so many, whose values and right values are all finite.
  std::vector<const WitnessRow*> comparable(std::size_t most) const;

  /// Whether a row is what the variant gives.
  bool agrees(const KernelVariant& variant, const WitnessRow& row) const;

  /// Evidence for a suspect: the output is what it gives wherever it was judged wrong, and nowhere
  /// else, in the heads or rows concerned, is it something else; and it is so near that this is no
  /// accident. Nothing if one of these fails.
  std::optional<Evidence> examine(const Suspect& suspect) const;

 private:
  WitnessRow row(Index head, Index t) const;
  WitnessRow witness(Index head, Index t) const;
  double surprise(const KernelVariant& variant, const WitnessRow& row) const;
  std::optional<std::string> where(const KernelVariant& variant) const;
  bool agrees_elsewhere(const KernelVariant& variant, Evidence& evidence) const;

  VariantRows rows_;
  std::vector<WitnessRow> wrong_, right_;
  std::vector<Index> wrong_heads_;
  Index first_t_ = 0, last_t_ = -1;  // of the rows judged wrong
};

}  // namespace sdpa
