#pragma once

#include "attention/attention.h"
#include "attention/problem.h"
#include "exact/ladder.h"

#include <map>
#include <memory>
#include <span>

namespace sdpa {

/// Attention of every head of a problem, some rows at a time. Rows are counted through all heads,
/// one head behind the other: row h * T_q + t is query t of head h.
///
/// Threads share the rows of all heads that are asked for together. What is to be known of k and v
/// of a head is found out once, if rows are asked for in their order.
class Heads {
 public:
  /// q, k and v as check_shapes takes them, and throws.
  Heads(const Array& q, const Array& k, const Array& v, const Settings& settings,
        const Layout& layout = {}, const OperandNames& names = {});

  const Problem& problem() const { return problem_; }
  Index row_count() const { return problem_.heads() * problem_.n.T_q; }

  /// The type of the results.
  Dtype dtype() const { return dtype_; }

  /// How many rows to ask for at a time: few enough that each thread is done within some tenths of
  /// a second, as far as that leaves the kernel rows enough, and that their weights take little
  /// memory.
  Index rows_at_a_time() const;

  /// Rows first ... first + count - 1: output (count, d_v), weights (count, T_k). Each row is what
  /// attention() gives for its head.
  Attention rows(Index first, Index count);

 private:
  /// If exact results are wanted of finite k and v; shared by the heads that share these.
  using KnownNorms = std::shared_ptr<const Norms>;
  struct KnownHead {
    Head head;
    KnownNorms norms;
  };

  void learn_heads(Index first, Index last);
  void run_exact(std::span<const MeasuredRows> parts, Attention& results) const;
  void run_plain(std::span<const MeasuredRows> parts, Attention& results) const;

  Settings settings_;
  Problem problem_;
  Dtype dtype_;
  std::map<Index, KnownHead> known_;  ///< those of the last rows
};

}  // namespace sdpa
