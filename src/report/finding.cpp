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
  const Index T_q = problem.n.T_q;
  for (Index head = 0; head < problem.heads(); ++head) {
    const Head operands = problem.head(head);
    if (finding.wrong.try_on(operands.q.array(), operands.k.array(), operands.v.array(),
                             reference.close_look(head), arithmetic.output, threads))
      finding.vacuous_heads.push_back(head);
    const Array of_head = actual.matrix(head);
    for (Index first = 0; first < T_q; first += reference.rows_at_a_time()) {
      const Index count = std::min(reference.rows_at_a_time(), T_q - first);
      const ReferenceRows rows = reference.rows(head * T_q + first, count);
      judge.add_rows(of_head.rows(first, count), rows.right, rows.allowed);
      done(count);
    }
  }
  finding.judgement = judge.judgement();
  return finding;
}

}  // namespace sdpa
