#include "cli/layout_arguments.h"

#include "base/error.h"
#include "cli/case_members.h"
#include "cli/option_values.h"
#include "io/array_file.h"

namespace sdpa {

namespace {

std::optional<NamedArray> read_offsets(const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  return NamedArray{read_array(*word), place_of(*word)};
}

void require_no_heads(bool has_heads, bool has_order) {
  if (has_heads && has_order)
    throw Error("--layout", "--heads says where the heads lie: (..., T, H d)");
}

}  // namespace

void require_one_layout(const LayoutArguments& a) {
  require_no_heads(a.heads.has_value(), a.order.has_value());
  const auto &q = a.cu_seqlens_q, &k = a.cu_seqlens_k;
  if (q.has_value() != k.has_value())
    throw Error(q ? "--cu-seqlens-k" : "--cu-seqlens-q",
                "missing; --cu-seqlens-q and --cu-seqlens-k belong together");
  if (q && a.order != AxisOrder::thd)
    throw Error("--cu-seqlens-q", "packed sequences lie in (total, H, d); give --layout thd");
}

Layout read_layout(const LayoutArguments& a, const std::vector<CaseMember>& members,
                   std::string_view place) {
  Layout layout{a.order.value_or(AxisOrder::htd), a.heads, read_offsets(a.cu_seqlens_q),
                read_offsets(a.cu_seqlens_k)};
  bool has_order = a.order.has_value();

  const CaseMembers all(members, place);
  all.take("layout", has_order, [&](const CaseMember& m, const std::string& name) {
    has_order = true;
    layout.order = AxisOrder(CaseMembers::choice_of(m, name, kAxisOrders));
  });
  all.take("heads", a.heads.has_value(), [&](const CaseMember& m, const std::string& name) {
    layout.heads = heads_from({name, CaseMembers::text_of(m, name)});
  });
  all.take("cu-seqlens-q", a.cu_seqlens_q.has_value(),
           [&](const CaseMember& m, const std::string& name) {
             layout.q_offsets = CaseMembers::array_of(m, name);
           });
  all.take("cu-seqlens-k", a.cu_seqlens_k.has_value(),
           [&](const CaseMember& m, const std::string& name) {
             layout.k_offsets = CaseMembers::array_of(m, name);
           });
  require_no_heads(layout.heads.has_value(), has_order);
  return layout;
}

std::vector<std::string_view> layout_member_names() {
  return {"layout", "heads", "cu-seqlens-q", "cu-seqlens-k"};
}

}  // namespace sdpa
