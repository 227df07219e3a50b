#include "attention/heads.h"

#include "attention/nonfinite.h"
#include "attention/plain.h"
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

namespace sdpa {

namespace {

bool all_finite(const MatrixView& matrix, int threads) {
  constexpr Index kElements = Index{1} << 22;  // less is not worth a thread
  const Index chunk = std::max<Index>(1, kElements / std::max<Index>(1, matrix.columns()));
  std::atomic<bool> finite{true};
  parallel_for(threads, (matrix.rows() + chunk - 1) / chunk, [&](Index c) {
    if (!matrix.rows_finite(c * chunk, std::min(chunk, matrix.rows() - c * chunk))) finite = false;
  });
  return finite;
}

std::shared_ptr<const Norms> norms_of_finite(const Head& head, int threads) {
  Norms norms = measure_norms(head.k, head.v, threads);
  const bool all_norms_finite =
      std::isfinite(norms.k_all) &&
      std::ranges::all_of(norms.v, [](double norm) { return std::isfinite(norm); });
  if (all_norms_finite || (all_finite(head.k, threads) && all_finite(head.v, threads)))
    return std::make_shared<const Norms>(std::move(norms));
  return nullptr;
}

bool is_finite(const Attention& results, int threads) {
  return all_finite(results.output, threads) &&
         (!results.weights || all_finite(*results.weights, threads));
}

/// The rows of a part as a head of their own.
Head part_of_head(const HeadRows& part) {
  Head head = *part.head;
  head.q = head.q.part(part.first, part.count);
  head.n.T_q = part.count;
  return head;
}

/// Attention of rows that hold NaN or infinities, or meet some in k or v.
void run_nonfinite(const HeadRows& part, Attention& results, const FiniteAttention& of_finite) {
  Attention rows = rows_of(results, part.at, part.count);
  nonfinite_attention(part_of_head(part), of_finite, rows);
}

}  // namespace

Heads::Heads(const Array& q, const Array& k, const Array& v, const Settings& settings,
             const Layout& layout, const OperandNames& names)
    : settings_(settings),
      problem_(check_shapes(q, k, v, layout, names)),
      dtype_(settings.dtype.value_or(result_type(result_type(q.dtype(), k.dtype()), v.dtype()))) {}

Index Heads::rows_at_a_time() const {
  constexpr Index kFewest = 512, kMost = 4096, kMostHeads = 256;
  constexpr double kProductsPerThread = 0x1p31;
  constexpr Index kWeights = Index{1} << 20;
  const Extents& n = problem_.n;
  const Index most = std::clamp<Index>(kMostHeads * n.T_q, 1, kMost);
  if (settings_.weights) return std::clamp<Index>(kWeights / n.T_k, 1, most);
  const double products_per_row =
      static_cast<double>(n.T_k) * (static_cast<double>(n.d_k) + static_cast<double>(n.d_v));
  const double rows = kProductsPerThread * settings_.threads / products_per_row;
  return std::clamp(static_cast<Index>(std::min(rows, static_cast<double>(kMost))),
                    std::min(kFewest, most), most);
}

/// Makes heads first ... last - 1 known, and forgets those before them.
void Heads::learn_heads(Index first, Index last) {
  // Heads that share k and v lie side by side.
  const KnownHead* before = known_.empty() ? nullptr : &known_.rbegin()->second;
  std::vector<std::vector<KnownHead*>> unmeasured;
  for (Index h = known_.empty() ? first : std::max(first, known_.rbegin()->first + 1); h < last;
       ++h) {
    KnownHead& known = known_[h];
    known.head = problem_.head(h);
    const bool shares = before != nullptr && have_same_keys(before->head, known.head);
    if (shares && unmeasured.empty())
      known.norms = before->norms;
    else if (shares)
      unmeasured.back().push_back(&known);
    else
      unmeasured.push_back({&known});
    before = &known;
  }
  known_.erase(known_.begin(), known_.lower_bound(first));
  if (settings_.precision != Precision::exact) return;

  const bool share_heads = std::ssize(unmeasured) >= settings_.threads;
  parallel_for(share_heads ? settings_.threads : 1, std::ssize(unmeasured), [&](Index i) {
    const auto& heads = unmeasured[static_cast<std::size_t>(i)];
    const auto norms = norms_of_finite(heads.front()->head, share_heads ? 1 : settings_.threads);
    for (KnownHead* known : heads) known->norms = norms;
  });
}

Attention Heads::rows(Index first, Index count) {
  const Extents& n = problem_.n;
  Attention results = empty_results(count, n.T_k, n.d_v, dtype_, settings_.weights);
  if (count == 0) return results;
  const Index first_head = first / n.T_q, last_head = (first + count - 1) / n.T_q + 1;
  learn_heads(first_head, last_head);

  std::vector<MeasuredRows> parts;
  for (Index h = first_head; h < last_head; ++h) {
    const KnownHead& known = known_.at(h);
    const Index begin = std::max(first, h * n.T_q), end = std::min(first + count, (h + 1) * n.T_q);
    parts.push_back(
        {{&known.head, begin - h * n.T_q, end - begin, begin - first}, known.norms.get()});
  }
  if (settings_.precision == Precision::exact)
    run_exact(parts, results);
  else
    run_plain(parts, results);
  return results;
}

void Heads::run_exact(std::span<const MeasuredRows> parts, Attention& results) const {
  std::vector<MeasuredRows> finite;
  for (const MeasuredRows& part : parts) {
    const HeadRows& rows = part.rows;
    if (part.norms != nullptr &&
        all_finite(rows.head->q.part(rows.first, rows.count), settings_.threads))
      finite.push_back(part);
    else
      run_nonfinite(rows, results, [&](const Head& head, Attention& of_head) {
        const Norms norms = measure_norms(head.k, head.v, settings_.threads);
        const MeasuredRows all{{&head, 0, head.n.T_q, 0}, &norms};
        exact_attention({&all, 1}, settings_.threads, of_head);
      });
  }
  exact_attention(finite, settings_.threads, results);
}

void Heads::run_plain(std::span<const MeasuredRows> parts, Attention& results) const {
  std::vector<HeadRows> rows;
  for (const MeasuredRows& part : parts) rows.push_back(part.rows);
  plain_attention(rows, settings_.precision, settings_.threads, results);

  // Plain arithmetic carries a NaN or an infinity to its results, if not always to the right ones.
  for (const HeadRows& part : rows) {
    const Head head = part_of_head(part);
    if (!is_finite(rows_of(results, part.at, part.count), settings_.threads) &&
        !(all_finite(head.q, settings_.threads) && all_finite(head.k, settings_.threads) &&
          all_finite(head.v, settings_.threads)))
      run_nonfinite(part, results, [&](const Head& finite, Attention& of_head) {
        const HeadRows all{&finite, 0, finite.n.T_q, 0};
        plain_attention({&all, 1}, settings_.precision, settings_.threads, of_head);
      });
  }
}

}  // namespace sdpa
