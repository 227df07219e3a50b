#include "report/finding.h"

#include <algorithm>

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

Verdict Finding::verdict() const {
  if (judgement.outside != 0) return Verdict::outside;
  if (judgement.unbounded != 0) return Verdict::no_judgement;
  if (judgement.judged == 0) return Verdict::nothing;
  return vacuous_heads.empty() ? Verdict::within : Verdict::no_judgement;
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

}  // namespace

Finding find(const HeadsOf& heads, const Array& actual, const Arithmetic& arithmetic, int threads,
             const std::function<void(Index rows)>& done) {
  Reference reference(heads, arithmetic, threads);
  const Problem& problem = reference.problem();
  const Index d_v = problem.n.d_v;
  Finding finding{arithmetic, problem.heads(), {.pattern = Pattern(actual.shape())}, {}, {}};
  Judge judge(actual.shape());
  const Array rows = actual.part(0, Shape({reference.row_count(), d_v}));
  const Index at_a_time = reference.rows_at_a_time();
  for (Index first = 0; first < reference.row_count(); first += at_a_time) {
    const Index count = std::min(at_a_time, reference.row_count() - first);
    judge_rows(judge, reference, rows, first, count);
    for (Index h = problem.head_of_row(first); h <= problem.head_of_row(first + count - 1); ++h) {
      const RowRange all = problem.rows_of(h);
      const bool begins_here = all.first >= first && all.first < first + count && all.count != 0;
      if (begins_here && finding.wrong.try_on(reference.close_look(h), arithmetic, threads))
        finding.vacuous_heads.push_back(h);
    }
    done(count);
  }
  finding.judgement = judge.judgement();
  return finding;
}

}  // namespace sdpa
