#include "attention/heads.h"

#include "attention/masked_nonfinite.h"
#include "attention/nonfinite.h"
#include "attention/plain.h"
#include "base/error.h"
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

namespace sdpa {

namespace {

bool all_finite(const MatrixView& matrix, std::span<const KeyRun> runs, int threads) {
  constexpr Index kElements = Index{1} << 22;  // less is not worth a thread
  const Index chunk = std::max<Index>(1, kElements / std::max<Index>(1, matrix.columns()));
  std::atomic<bool> finite{true};
  for (const KeyRun& run : runs)
    parallel_for(threads, (run.count() + chunk - 1) / chunk, [&](Index c) {
      const Index first = run.first + c * chunk;
      if (!matrix.rows_finite(first, std::min(chunk, run.end - first))) finite = false;
    });
  return finite;
}

bool all_finite(const MatrixView& matrix, int threads) {
  const KeyRun all{0, matrix.rows()};
  return all_finite(matrix, {&all, 1}, threads);
}

/// The keys of a head that some query sees.
std::vector<KeyRun> seen_runs(const Head& head, const std::optional<Survey>& survey) {
  if (!survey) return {{0, head.n.T_k}};
  return survey->seen_runs(0, head.n.T_k);
}

/// Nothing where every query sees every key, of which there is one.
std::optional<Survey> survey_of(const Head& head, int threads) {
  if (head.visible.is_everything() && head.n.T_k != 0) return std::nullopt;
  return survey(head.visible, head.n.T_q, head.n.T_k, threads);
}

/// Whether k, v and the bias hold no NaN and no infinity that some query sees.
bool keys_finite(const Head& head, const std::vector<KeyRun>& seen, int threads) {
  return all_finite(head.k, seen, threads) && all_finite(head.v, seen, threads);
}

/// Whether the bias holds no NaN and no +inf that some query sees.
bool bias_finite(const Head& head, int threads) {
  if (!head.visible.bias) return true;
  std::atomic<bool> finite{true};
  parallel_for(threads, head.n.T_q, [&](Index t) {
    std::vector<double> row(static_cast<std::size_t>(head.n.T_k));
    for (const KeyRun& run : head.visible.runs(t, head.n.T_k)) {
      head.visible.bias->read(t, run.first, run.count(), row.data());
      for (Index i = 0; i < run.count(); ++i)
        if (!(row[static_cast<std::size_t>(i)] < HUGE_VAL)) finite = false;
    }
  });
  return finite;
}

/// A sink of -inf is none.
bool is_sink_finite(const Head& head) {
  return head.sink < HUGE_VAL;
}

std::optional<Norms> norms_of_finite(const Head& head, const std::vector<KeyRun>& seen,
                                     int threads) {
  Norms norms = measure_norms(head.k, head.v, seen, threads);
  const bool all_norms_finite =
      std::isfinite(norms.k_all) &&
      std::ranges::all_of(norms.v, [](double norm) { return std::isfinite(norm); });
  if ((all_norms_finite || keys_finite(head, seen, threads)) && bias_finite(head, threads) &&
      is_sink_finite(head))
    return norms;
  return std::nullopt;
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
  head.visible = head.visible.from_query(part.first);
  return head;
}

/// Extents of all heads, and whether the last of them counts heads.
Mask mask_of(const MaskOptions& options, const Problem& problem) {
  const Shape rows = problem.rows_shape(1);
  const auto leading = rows.extents().first(static_cast<std::size_t>(rows.rank() - 2));
  const bool declared = problem.layout.heads || problem.layout.order == AxisOrder::thd;
  const bool has_heads = leading.size() > 1 || (declared && !leading.empty());
  return Mask(options, leading, has_heads, problem.n.T_q, problem.n.T_k, problem.packing);
}

/// Rows first ... first + count - 1 of a head that see a key, in runs of neighbours, and what is
/// known of its k and v.
std::vector<MeasuredRows> rows_with_keys(const Head& head, const std::optional<Survey>& survey,
                                         const Norms* norms, Index first, Index count, Index at) {
  if (!survey) return {{{&head, first, count, at}, norms}};
  std::vector<MeasuredRows> parts;
  const auto is_empty = [&](Index r) {
    return survey->counts[static_cast<std::size_t>(first + r)] == 0;
  };
  for (Index r = 0; r < count; ++r) {
    if (is_empty(r)) continue;
    const Index begin = r;
    while (r < count && !is_empty(r)) ++r;
    parts.push_back({{&head, first + begin, r - begin, at + begin}, norms});
  }
  return parts;
}

void copy_rows(const Array& row, Array& to, Index at) {
  const auto bytes = row.bytes();
  std::ranges::copy(bytes, to.mutable_data() + at * static_cast<Index>(bytes.size()));
}

void fill_with_nan(Array& to, Index at) {
  const std::vector<double> nans(static_cast<std::size_t>(to.shape()[1]), std::nan(""));
  store(to, at, 0, nans.data(), std::ssize(nans));
}

/// The same query for all T_k rows of v with equal weights: zeros, of which each score is 0.
Head mean_head(const Head& head) {
  const Array zeros(Shape({1, head.n.d_k}), Dtype::float64);
  return make_head(zeros, MatrixView(zeros, 0, head.n.T_k, head.n.d_k, 0), head.v);
}

}  // namespace

Heads::Heads(const Array& q, const Array& k, const Array& v, const Settings& settings,
             const Layout& layout, const OperandNames& names, const MaskOptions& mask,
             const ScoringOptions& scoring)
    : settings_(settings),
      problem_(check_shapes(q, k, v, layout, names)),
      mask_(mask_of(mask, problem_)),
      scoring_(scoring),
      dtype_(settings.dtype.value_or(result_type(result_type(q.dtype(), k.dtype()), v.dtype()))) {
  const Shape rows = problem_.rows_shape(1);
  sinks_ =
      sinks_of_heads(scoring_, rows.extents().first(static_cast<std::size_t>(rows.rank() - 2)));
  if (problem_.packing.is_packed() && settings.weights)
    throw Error("--weights", "those of packed sequences are matrices of different shapes");
}

Head Heads::head(Index h) const {
  Head head = problem_.head(h);
  head.visible = mask_.of_head(h);
  if (scoring_.scale) set_scale(head, *scoring_.scale);
  if (scoring_.softcap) head.softcap = *scoring_.softcap;
  if (!sinks_.empty())
    head.sink = sinks_[static_cast<std::size_t>(h / problem_.packing.sequences())];
  return head;
}

Index Heads::rows_at_a_time() const {
  constexpr Index kFewest = 512, kMost = 4096, kMostHeads = 256;
  constexpr double kProductsPerThread = 0x1p31;
  constexpr Index kWeights = Index{1} << 20;
  const Extents& n = problem_.n;
  const Index most = std::clamp<Index>(kMostHeads * n.T_q, 1, kMost);
  if (settings_.weights) return std::clamp<Index>(kWeights / n.T_k, 1, most);
  const double products_per_row =
      problem_.keys_per_row() * (static_cast<double>(n.d_k) + static_cast<double>(n.d_v));
  const double rows = kProductsPerThread * settings_.threads / std::max(products_per_row, 1.0);
  return std::clamp(static_cast<Index>(std::min(rows, static_cast<double>(kMost))),
                    std::min(kFewest, most), most);
}

Heads::KnownKeys Heads::learn_keys(const Head& head, int threads) const {
  KnownKeys keys{survey_of(head, threads), std::nullopt};
  if (settings_.precision == Precision::exact)
    keys.norms = norms_of_finite(head, seen_runs(head, keys.survey), threads);
  return keys;
}

/// Makes heads first ... last - 1 known, and forgets those before them.
void Heads::learn_heads(Index first, Index last) {
  if (!known_.empty() && first < known_.begin()->first) known_.clear();
  std::vector<std::vector<KnownHead*>> unknown;
  std::map<Index, std::size_t> unknown_at;  // of a head, its place there
  for (Index h = known_.empty() ? first : std::max(first, known_.rbegin()->first + 1); h < last;
       ++h) {
    if (problem_.rows_of(h).count == 0) continue;
    KnownHead& known = known_[h];
    known.head = head(h);
    // Heads that share k and v lie side by side, each with all its sequences.
    const Index before = h - problem_.packing.sequences();
    const auto other = known_.find(before);
    const bool shares = other != known_.end() && have_same_keys(other->second.head, known.head) &&
                        other->second.head.visible == known.head.visible;
    if (shares && other->second.keys) {
      known.keys = other->second.keys;
    } else if (shares) {
      const std::size_t at = unknown_at[h] = unknown_at.at(before);
      unknown[at].push_back(&known);
    } else {
      unknown_at[h] = unknown.size();
      unknown.push_back({&known});
    }
  }
  known_.erase(known_.begin(), known_.lower_bound(first));

  const bool share_heads = std::ssize(unknown) >= settings_.threads;
  parallel_for(share_heads ? settings_.threads : 1, std::ssize(unknown), [&](Index i) {
    const auto& heads = unknown[static_cast<std::size_t>(i)];
    const auto keys = std::make_shared<const KnownKeys>(
        learn_keys(heads.front()->head, share_heads ? 1 : settings_.threads));
    for (KnownHead* known : heads) known->keys = keys;
  });
}

Attention Heads::rows(Index first, Index count) {
  const Extents& n = problem_.n;
  Attention results = empty_results(count, n.T_k, n.d_v, dtype_, settings_.weights);
  if (count == 0) return results;
  const Index first_head = problem_.head_of_row(first);
  const Index last_head = problem_.head_of_row(first + count - 1) + 1;
  learn_heads(first_head, last_head);

  std::vector<MeasuredRows> parts;
  const auto for_each_head = [&](auto act) {
    for (Index h = first_head; h < last_head; ++h) {
      const RowRange of_head = problem_.rows_of(h);
      if (of_head.count == 0) continue;
      const Index begin = std::max(first, of_head.first);
      const Index end = std::min(first + count, of_head.end());
      act(h, known_.at(h), begin - of_head.first, end - begin, begin - first);
    }
  };
  for_each_head([&](Index h, const KnownHead& known, Index t, Index rows, Index at) {
    count_rows(h, t, rows);
    const Norms* norms = known.keys->norms ? &*known.keys->norms : nullptr;
    for (const MeasuredRows& part :
         rows_with_keys(known.head, known.keys->survey, norms, t, rows, at))
      parts.push_back(part);
  });
  run(parts, results);
  for_each_head([&](Index, const KnownHead& known, Index t, Index rows, Index at) {
    fill_empty_rows(known, t, rows, at, results);
  });
  return results;
}

void Heads::count_rows(Index h, Index first, Index count) {
  const KnownHead& known = known_.at(h);
  const Index T_k = known.head.n.T_k, first_row = problem_.rows_of(h).first;
  counts_.pairs += count * T_k;
  if (!known.keys->survey) {
    counts_.visible_pairs += count * T_k;
    return;
  }
  for (Index t = first; t < first + count; ++t) {
    const Index keys = known.keys->survey->counts[static_cast<std::size_t>(t)];
    counts_.visible_pairs += keys;
    if (keys != 0 || t >= known.head.visible.query_length || known.head.has_sink()) continue;
    if (mask_.empty_rows() == EmptyRows::error)
      throw Error("--empty-rows", "query " + row_text(first_row + t) + " sees none of the " +
                                      std::to_string(T_k) + " keys (" + mask_.text() + ")");
    if (!counts_.first_empty_row) counts_.first_empty_row = first_row + t;
    ++counts_.empty_rows;
  }
}

std::string Heads::row_text(Index row) const {
  const Shape rows = problem_.rows_shape(1);
  return Shape({rows.extents().begin(), rows.extents().end() - 1}).index_text(row);
}

/// Rows that see no key are zeros already, and remain so if there is a sink.
void Heads::fill_empty_rows(const KnownHead& known, Index first, Index count, Index at,
                            Attention& results) const {
  const bool is_sink = known.head.has_sink();
  const bool are_zeros =
      is_sink ? is_sink_finite(known.head) : mask_.empty_rows() == EmptyRows::zero;
  if (!known.keys->survey || are_zeros) return;
  std::optional<Attention> mean;
  for (Index r = 0; r < count; ++r) {
    const Index t = first + r;
    if (known.keys->survey->counts[static_cast<std::size_t>(t)] != 0 ||
        t >= known.head.visible.query_length)
      continue;
    if (is_sink || mask_.empty_rows() == EmptyRows::nan ||
        known.head.n.T_k == 0) {  // the mean of nothing
      fill_with_nan(results.output, at + r);
      if (results.weights) fill_with_nan(*results.weights, at + r);
      continue;
    }
    if (!mean) {
      const Head head = mean_head(known.head);
      mean = empty_results(1, head.n.T_k, head.n.d_v, dtype_, settings_.weights);
      std::optional<Norms> norms;
      if (settings_.precision == Precision::exact)
        norms = norms_of_finite(head, {{0, head.n.T_k}}, settings_.threads);
      const MeasuredRows all{{&head, 0, 1, 0}, norms ? &*norms : nullptr};
      run({&all, 1}, *mean);
    }
    copy_rows(mean->output, results.output, at + r);
    if (results.weights) copy_rows(*mean->weights, *results.weights, at + r);
  }
}

void Heads::run(std::span<const MeasuredRows> parts, Attention& results) const {
  if (settings_.precision == Precision::exact)
    run_exact(parts, results);
  else
    run_plain(parts, results);
}

void Heads::run_exact(std::span<const MeasuredRows> parts, Attention& results) const {
  std::vector<MeasuredRows> finite;
  for (const MeasuredRows& part : parts) {
    const HeadRows& rows = part.rows;
    if (part.norms != nullptr &&
        all_finite(rows.head->q.part(rows.first, rows.count), settings_.threads))
      finite.push_back(part);
    else
      run_nonfinite(rows, results);
  }
  exact_attention(finite, settings_.threads, results);
}

void Heads::run_plain(std::span<const MeasuredRows> parts, Attention& results) const {
  std::vector<HeadRows> rows;
  for (const MeasuredRows& part : parts) rows.push_back(part.rows);
  plain_attention(rows, settings_.precision, settings_.threads, results);

  // Plain arithmetic carries a NaN or an infinity to its results, if not always to the right ones.
  for (const HeadRows& part : rows) {
    if (is_finite(rows_of(results, part.at, part.count), settings_.threads) &&
        is_sink_finite(*part.head))
      continue;
    const Head head = part_of_head(part);
    if (!all_finite(head.q, settings_.threads) ||
        !keys_finite(head, seen_runs(head, survey_of(head, settings_.threads)),
                     settings_.threads) ||
        !bias_finite(head, settings_.threads) || !is_sink_finite(head))
      run_nonfinite(part, results);
  }
}

/// Attention of rows that hold NaN or infinities, or meet some in k, v or the bias.
void Heads::run_nonfinite(const HeadRows& part, Attention& results) const {
  Attention rows = rows_of(results, part.at, part.count);
  const auto of_finite = [this](const Head& finite, Attention& of_head) {
    run_finite_head(finite, of_head);
  };
  const Head head = part_of_head(part);
  if (head.is_plain())
    nonfinite_attention(head, of_finite, rows);
  else
    masked_nonfinite_attention(head, of_finite, rows);
}

/// Rows of a head that see a key, all numbers being finite.
void Heads::run_finite_head(const Head& head, Attention& results) const {
  const std::optional<Survey> seen = survey_of(head, settings_.threads);
  std::optional<Norms> norms;
  if (settings_.precision == Precision::exact)
    norms = measure_norms(head.k, head.v, seen_runs(head, seen), settings_.threads);
  const std::vector<MeasuredRows> parts =
      rows_with_keys(head, seen, norms ? &*norms : nullptr, 0, head.n.T_q, 0);
  if (settings_.precision == Precision::exact)
    return exact_attention(parts, settings_.threads, results);
  std::vector<HeadRows> rows;
  for (const MeasuredRows& part : parts) rows.push_back(part.rows);
  plain_attention(rows, settings_.precision, settings_.threads, results);
}

}  // namespace sdpa
