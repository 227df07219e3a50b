#include "report/finding.h"

#include <algorithm>

namespace sdpa {

std::vector<std::string> Finding::with_fate(WrongKernelFate fate) const {
  std::vector<std::string> names;
  for (const WrongKernel& kernel : wrong.kernels())
    if (kernel.fate == fate) names.emplace_back(kernel.name);
  return names;
}

Verdict Finding::verdict() const {
  if (judgement.outside != 0) return Verdict::outside;
  if (judgement.unbounded != 0) return Verdict::no_judgement;
  if (judgement.judged == 0) return Verdict::nothing;
  return vacuous_heads.empty() ? Verdict::within : Verdict::no_judgement;
}

Finding find(const HeadsOf& heads, const Array& actual, const Arithmetic& arithmetic, int threads,
             const std::function<void(Index rows)>& done) {
  Reference reference(heads, arithmetic, threads);
  const Problem& problem = reference.problem();
  Finding finding{arithmetic, problem.heads(), {.pattern = Pattern(actual.shape())}, {}, {}};
  Judge judge(actual.shape());
  const Index d_v = problem.n.d_v;
  for (Index head = 0; head < problem.heads(); ++head) {
    const RowRange all = problem.rows_of(head);
    if (all.count == 0) continue;
    const Head operands = problem.head(head);
    if (operands.n.T_k != 0 &&
        finding.wrong.try_on(operands.q.array(), operands.k.array(), operands.v.array(),
                             reference.close_look(head), arithmetic.output, threads))
      finding.vacuous_heads.push_back(head);
    const Array of_head = actual.part(all.first * d_v, Shape({all.count, d_v}));
    for (Index first = 0; first < all.count; first += reference.rows_at_a_time()) {
      const Index count = std::min(reference.rows_at_a_time(), all.count - first);
      const ReferenceRows rows = reference.rows(all.first + first, count);
      judge.add_rows(of_head.rows(first, count), rows.right, rows.allowed);
      done(count);
    }
  }
  finding.judgement = judge.judgement();
  return finding;
}

}  // namespace sdpa
