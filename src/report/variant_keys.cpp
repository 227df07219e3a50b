// Operands as wrong kernels take them, and their products.

#include "report/variant_rows.h"

#include <algorithm>

namespace sdpa {

namespace {

using textbook::Values;

/// Row j of operand `matrix` of the head whose number is `head`, as a kernel finds it that takes the
/// order (H, T) in memory for (T, H), or the other way round.
class Regrouped {
 public:
  Regrouped(const Problem& problem, Index head, MatrixView Head::*operand,
            const HeadMatrices& matrices)
      : problem_(problem),
        operand_(operand),
        H_(problem.q.heads()),
        G_(matrices.heads()),
        entry_(head / H_),
        group_(head % H_ / (H_ / G_)),
        rows_(matrices.rows()) {}

  void read(Values& out) const {
    const MatrixView own = problem_.head(entry_ * H_).*operand_;
    out.resize(static_cast<std::size_t>(rows_ * own.columns()));
    std::vector<MatrixView> of_groups;
    for (Index g = 0; g < G_; ++g)
      of_groups.push_back(problem_.head(entry_ * H_ + g * (H_ / G_)).*operand_);
    const bool heads_first = problem_.layout.order == AxisOrder::htd && !problem_.layout.heads;
    for (Index j = 0; j < rows_; ++j) {
      const Index at = heads_first ? j * G_ + group_ : group_ * rows_ + j;
      const Index g = heads_first ? at / rows_ : at % G_, row = heads_first ? at % rows_ : at / G_;
      of_groups[static_cast<std::size_t>(g)].read_rows(row, 1, out.data() + j * own.columns());
    }
  }

 private:
  const Problem& problem_;
  MatrixView Head::*operand_;
  Index H_, G_, entry_, group_, rows_;
};

Values transposed(const Values& matrix, Index rows, Index columns) {
  Values result(matrix.size());
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c)
      result[static_cast<std::size_t>(c * rows + r)] =
          matrix[static_cast<std::size_t>(r * columns + c)];
  return result;
}

VariantKeys make_keys(const Problem& problem, const KernelVariant& variant, const RowSource& from) {
  const Head k_head = problem.head(from.k_head), v_head = problem.head(from.v_head);
  Values k, v;
  if (variant.operands == TakenOperands::regrouped) {
    Regrouped(problem, from.k_head, &Head::k, problem.k).read(k);
    Regrouped(problem, from.v_head, &Head::v, problem.v).read(v);
  } else {
    k = textbook::values_of(k_head.k);
    v = textbook::values_of(v_head.v);
  }
  const Index T_k = k_head.n.T_k;
  if (variant.operands == TakenOperands::swapped) std::swap(k, v);
  if (variant.operands == TakenOperands::v_transposed) v = transposed(v, v_head.n.d_v, T_k);
  if (variant.rounding != nullptr) {
    for (double& value : k) value = variant.rounding(value);
    if (variant.rounds_v)
      for (double& value : v) value = variant.rounding(value);
  }
  return {T_k, k_head.n.d_k, v_head.n.d_v, transposed(k, T_k, k_head.n.d_k), std::move(v)};
}

}  // namespace

std::shared_ptr<const VariantKeys> VariantRows::keys_of(const KernelVariant& variant,
                                                        const RowSource& from) const {
  constexpr Index kMostElements = Index{1} << 25;
  const KeysName name{from.k_head, from.v_head, variant.operands, variant.rounding,
                      variant.rounds_v};
  std::lock_guard lock(mutex_);
  if (const auto found = keys_.find(name); found != keys_.end()) return found->second;
  if (keys_size_ > kMostElements) {
    keys_.clear();
    keys_size_ = 0;
  }
  auto keys = std::make_shared<const VariantKeys>(make_keys(judged_.problem, variant, from));
  keys_size_ += std::ssize(keys->k_transposed) + std::ssize(keys->v);
  keys_[name] = keys;
  return keys;
}

std::shared_ptr<const VariantRows::Dots> VariantRows::dots_of(const KernelVariant& variant,
                                                              const RowSource& from,
                                                              const VariantKeys& keys) const {
  constexpr Index kMostElements = Index{1} << 23;
  // Those of the right operands are wanted again and again.
  const bool is_usual = from.q_head == from.k_head && variant.rounding == nullptr &&
                        variant.operands == TakenOperands::right;
  const std::pair<Index, Index> place{from.q_head, from.t};
  if (is_usual) {
    std::lock_guard lock(mutex_);
    if (const auto found = dots_.find(place); found != dots_.end()) return found->second;
  }
  const Head head = judged_.problem.head(from.q_head);
  Values q_t(static_cast<std::size_t>(head.n.d_k));
  head.q.read_rows(from.t, 1, q_t.data());
  if (variant.rounding != nullptr)
    for (double& value : q_t) value = variant.rounding(value);

  const auto T_k = static_cast<std::size_t>(keys.T_k);
  auto dots = std::make_shared<Dots>(Dots{Values(T_k), Values(T_k)});
  const double* k_i = keys.k_transposed.data();
  for (const double q_ti : q_t) {
    double *sums = dots->sums.data(), *squares = dots->squares.data();
    for (std::size_t j = 0; j < T_k; ++j) {
      const double product = q_ti * k_i[j];
      sums[j] += product;
      squares[j] += product * product;
    }
    k_i += T_k;
  }
  if (is_usual) {
    std::lock_guard lock(mutex_);
    if (dots_size_ < kMostElements && dots_.emplace(place, dots).second) dots_size_ += 2 * keys.T_k;
  }
  return dots;
}

}  // namespace sdpa
