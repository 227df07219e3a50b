#include "report/finding.h"

#include "report/ulp.h"

#include <algorithm>
#include <cmath>

namespace sdpa {

std::vector<std::string> Finding::rejected() const {
  std::vector<std::string> names;
  for (const WrongKernel& kernel : wrong.kernels())
    if (kernel.fate == WrongKernelFate::rejected) names.emplace_back(kernel.name);
  return names;
}

std::vector<WrongKernel> Finding::not_told() const {
  std::vector<WrongKernel> kernels;
  for (const WrongKernel& kernel : wrong.kernels())
    if (kernel.fate == WrongKernelFate::right || kernel.fate == WrongKernelFate::accepted)
      kernels.push_back(kernel);
  return kernels;
}

std::vector<std::string> Finding::needed_but_not_told() const {
  std::vector<std::string> names;
  for (const WrongKernel& kernel : not_told())
    if (kernel.needed) names.emplace_back(kernel.name);
  return names;
}

Verdict Finding::verdict() const {
  if (judgement.outside != 0) return Verdict::outside;
  if (judgement.unbounded != 0) return Verdict::no_judgement;
  if (judgement.judged == 0) return Verdict::nothing;
  const bool shows_enough = vacuous_heads.empty() && (!strict || needed_but_not_told().empty());
  return shows_enough ? Verdict::within : Verdict::no_judgement;
}

namespace {

/// Judges rows first ... of the output, those behind their query length left out.
void judge_rows(Judge& judge, Reference& reference, const Array& actual, Index first, Index count) {
  const ReferenceRows all = reference.rows(first, count);
  const Index d_v = reference.problem().n.d_v;
  for (Index r = 0; r < count;) {
    const Index begin = r;
    const bool behind = reference.is_behind(first + begin);
    while (r < count && reference.is_behind(first + r) == behind) ++r;
    if (behind) {
      judge.skip_rows(r - begin);
      continue;
    }
    const auto part = [&](const textbook::Values& values) {
      return textbook::Values(values.begin() + begin * d_v, values.begin() + r * d_v);
    };
    judge.add_rows(actual.rows(first + begin, r - begin),
                   {part(all.right.rounded), part(all.right.unrounded)}, part(all.allowed));
  }
}

/// `until_outside`: no more rows are judged than the first outside needs.
Finding judged(const HeadsOf& heads, const Array& actual, const Arithmetic& arithmetic, int threads,
               bool until_outside, const std::function<void(Index rows)>& done,
               float* errors = nullptr) {
  Reference reference(heads, arithmetic, threads);
  const Problem& problem = reference.problem();
  const Index d_v = problem.n.d_v;
  Finding finding{.arithmetic = arithmetic,
                  .heads = problem.heads(),
                  .mask = {},
                  .counts = {},
                  .judgement = {.pattern = Pattern(actual.shape()),
                                .map = BlockMap(actual.shape()),
                                .rows = {}},
                  .wrong = {},
                  .vacuous_heads = {},
                  .within_under = {},
                  .faults = {}};
  Judge judge(actual.shape());
  judge.keep_errors(errors);
  const Array rows = actual.part(0, Shape({reference.row_count(), d_v}));
  constexpr Index kFirstRows = 64;
  Index at_a_time = reference.rows_at_a_time();
  if (until_outside) at_a_time = std::min(at_a_time, kFirstRows);
  for (Index first = 0; first < reference.row_count(); first += at_a_time) {
    if (first != 0) at_a_time = reference.rows_at_a_time();
    const Index count = std::min(at_a_time, reference.row_count() - first);
    judge_rows(judge, reference, rows, first, count);
    if (until_outside && judge.judgement().outside != 0) break;
    for (Index h = problem.head_of_row(first); h <= problem.head_of_row(first + count - 1); ++h) {
      const RowRange all = problem.rows_of(h);
      const bool begins_here = all.first >= first && all.first < first + count && all.count != 0;
      if (begins_here && finding.wrong.try_on(reference.close_look(h), arithmetic, threads))
        finding.vacuous_heads.push_back(h);
    }
    done(count);
  }
  finding.judgement = judge.judgement();
  if (!reference.heads().mask().is_everything()) finding.mask = reference.heads().mask().text();
  finding.counts = reference.heads().mask_counts();
  return finding;
}

/// Arithmetics that kernels use without saying so.
std::vector<Arithmetic> undeclared(const Arithmetic& declared) {
  std::vector<Arithmetic> all;
  const auto add = [&](auto change) {
    Arithmetic other = declared;
    change(other);
    if (!(other == declared)) all.push_back(other);
  };
  const bool is_short = size_bytes(declared.output) == 2;
  if (declared.output == Dtype::float64)
    add([](Arithmetic& a) { a.sums = a.weights = Dtype::float32; });
  if (!is_short) add([](Arithmetic& a) { a.products = Products::tf32; });
  for (const Dtype dtype : {Dtype::float16, Dtype::bfloat16}) {
    if (is_short && dtype != declared.output) continue;
    add([&](Arithmetic& a) { a.weights = dtype; });
    add([&](Arithmetic& a) { a.scores = dtype; });
    add([&](Arithmetic& a) {
      a.products = dtype == Dtype::float16 ? Products::float16 : Products::bfloat16;
    });
  }
  return all;
}

/// Its parts that are not as declared.
std::string difference_text(const Arithmetic& other, const Arithmetic& declared) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ",") + part; };
  if (other.sums != declared.sums) add("sums=" + std::string(name(other.sums)));
  if (other.weights != declared.weights) add("weights=" + std::string(name(other.weights)));
  if (other.scores != declared.scores && other.scores)
    add("scores=" + std::string(name(*other.scores)));
  if (other.products != declared.products) add("products=" + products_text(other.products));
  return text;
}

/// Whether the row with the worst value is within the bound of another arithmetic, which one row
/// tells at little cost.
bool allows_worst_row(const HeadsOf& heads, const Array& actual, const Finding& finding,
                      const Arithmetic& other) {
  const Heads all = heads({.dtype = other.output});
  const Index d_v = all.problem().n.d_v, row = finding.judgement.worst / d_v;
  const Index number = all.problem().head_of_row(row);
  const Head head = all.head(number);
  const Index t = row - all.problem().rows_of(number).first;
  if (head.visible.runs(t, head.n.T_k).empty()) return false;
  const CloseRow close = look_at_row(head, t, other);
  for (Index d = 0; d < d_v; ++d) {
    const auto at = static_cast<std::size_t>(d);
    // The right value is that of float64 arithmetic.
    const double slack = ulp(close.output[at], other.output);
    const double error = std::fabs(actual.at(row * d_v + d) - close.output[at]);
    if (!(error <= close.allowed[at] + slack) && !std::isnan(close.output[at])) return false;
  }
  return true;
}

}  // namespace

Finding find(const HeadsOf& heads, const Array& actual, const Arithmetic& arithmetic, int threads,
             const std::function<void(Index rows)>& done, float* errors) {
  Finding finding = judged(heads, actual, arithmetic, threads, false, done, errors);
  if (finding.verdict() != Verdict::outside) return finding;
  for (const Arithmetic& other : undeclared(arithmetic)) {
    const std::string what = difference_text(other, arithmetic);
    const auto is_finer = [&](const std::string& text) {  // the same part, in a finer type
      return text.substr(0, text.find('=')) == what.substr(0, what.find('='));
    };
    if (std::ranges::any_of(finding.within_under, is_finer)) continue;
    if (!allows_worst_row(heads, actual, finding, other)) continue;
    const Finding under = judged(heads, actual, other, threads, true, [](Index) {});
    if (under.verdict() != Verdict::within) continue;
    finding.within_under.push_back(what);
  }
  return finding;
}

}  // namespace sdpa
