#pragma once

#include "attention/named_array.h"
#include "stage/head.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sdpa {

/// As "0.125" or "1/sqrt(64)".
std::string scale_text(const ScoreScale& scale);

/// What becomes of the dot products q k^T before the softmax, in this order: they are scaled, capped,
/// a bias is added (MaskOptions), and of the keys that a query sees and a sink the softmax is taken.
struct ScoringOptions {
  std::optional<ScoreScale> scale{};  ///< absent: 1/sqrt(d_k)
  std::optional<double> softcap{};    ///< C > 0: the scaled score s becomes C tanh(s/C)
  /// One more logit in the sum of each softmax, with a value of 0; neither scaled nor capped. A
  /// number for all heads, or (H) one a query head, or as numpy broadcasts to (..., H).
  std::optional<NamedArray> sinks{};

  /// What is given, as "scale 0.125, softcap 50, sinks of sinks.npy"; empty if nothing is.
  std::string text() const;
};

/// The sink of each head, where `leading` are the extents of all heads; none if no sinks are given.
/// Throws Error, beginning with the file or option, if the array is not of numbers or does not
/// broadcast to these extents.
std::vector<double> sinks_of_heads(const ScoringOptions& scoring, std::span<const Index> leading);

}  // namespace sdpa
