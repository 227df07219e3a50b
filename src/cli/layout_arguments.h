#pragma once

#include "attention/layout.h"
#include "io/case.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The options that say how heads and sequences lie in the operands, before their files are read.
struct LayoutArguments {
  std::optional<AxisOrder> order;  ///< of q, k, v and the output; absent: htd
  std::optional<Index> heads;      ///< that the last axis of q holds; not with an order
  /// Where packed sequences begin, as arguments of read_array; both or neither, with the order thd.
  std::optional<std::string> cu_seqlens_q, cu_seqlens_k;
};

/// Words that --layout takes, in the order of AxisOrder.
inline constexpr std::string_view kAxisOrders[] = {"htd", "thd"};

/// Throws Error, beginning with the option at fault, if they do not go together.
void require_one_layout(const LayoutArguments& arguments);

/// The options, with their files read, and with the members of a case file that are spelled as they
/// are. `members` and `place` as read_mask takes them; throws what it throws, and Error if the
/// options and members do not go together.
Layout read_layout(const LayoutArguments& arguments, const std::vector<CaseMember>& members = {},
                   std::string_view place = {});

/// Names of the members of a case file that read_layout takes.
std::vector<std::string_view> layout_member_names();

}  // namespace sdpa
