#include "report/suspects.h"

#include <algorithm>
#include <limits>

namespace sdpa {

namespace {

constexpr Index kShifts = 8;
constexpr Index kTiles[] = {8, 16, 32, 64, 128, 256};

using Sight = std::function<void(Visible&, const Extents&)>;

bool is_open(Index side) {
  return side == Visible::kOpen;
}

KernelVariant seeing(Sight sight) {
  KernelVariant variant;
  variant.sight = std::move(sight);
  return variant;
}

std::string keys_text(Index n) {
  return std::to_string(n) + (n == 1 ? " key" : " keys");
}

/// -1, 1, -2, 2, ...
std::vector<Index> shifts() {
  std::vector<Index> all;
  for (Index n = 1; n <= kShifts; ++n) {
    all.push_back(n);
    all.push_back(-n);
  }
  return all;
}

void add_edges(const Visible& right, std::vector<Suspect>& list) {
  const auto corner = [&](const char* corner_name, Sight sight) {
    list.push_back({"align", corner_name,
                    std::string("the mask is aligned to the corner ") + corner_name,
                    seeing(std::move(sight)), 1});
  };
  corner("top-left", [](Visible& visible, const Extents&) { visible.offset = 0; });
  corner("bottom-right", [](Visible& visible, const Extents& n) {
    visible.offset = std::min(n.T_k, visible.key_length) - std::min(n.T_q, visible.query_length);
  });
  for (const Index n : shifts()) {
    const std::string words =
        " " + keys_text(n < 0 ? -n : n) + " further " + (n < 0 ? "left" : "right");
    if (!is_open(right.right))
      list.push_back({"mask-shifted", n, "the right edge of the mask is" + words,
                      seeing([n](Visible& visible, const Extents&) { visible.right += n; }), 4});
    if (!is_open(right.left))
      list.push_back({"mask-shifted", n, "the mask is" + words,
                      seeing([n](Visible& visible, const Extents&) { visible.offset += n; }), 4});
    if (!is_open(right.left) && right.left + n >= 0)
      list.push_back({"window", right.left + n,
                      "the window reaches " + keys_text(right.left + n) + " to the left",
                      seeing([n](Visible& visible, const Extents&) { visible.left += n; }), 4});
  }
  if (!is_open(right.left))
    list.push_back({"window", "inf", "the window is open to the left",
                    seeing([](Visible& visible, const Extents&) { visible.left = Visible::kOpen; }),
                    4});
}

void add_lengths(const JudgedOutput& judged, std::vector<Suspect>& list) {
  list.push_back(
      {"lengths-ignored",
       {},
       "keys behind the length are seen",
       seeing([](Visible& visible, const Extents&) { visible.key_length = Visible::kOpen; })});
  std::vector<Index> lengths;
  for (Index head = 0; head < judged.heads(); head += judged.problem.q.heads())
    lengths.push_back(judged.mask.of_head(head).key_length);
  const auto add = [&](const std::function<Index(Index)>& taken) {
    std::vector<Index> all;
    for (const Index length : lengths) all.push_back(taken(length));
    const bool one = std::ranges::all_of(all, [&](Index length) { return length == all[0]; });
    if (all == lengths || std::ranges::min(all) < 0 || std::ranges::max(all) > judged.problem.n.T_k)
      return;
    list.push_back({"length-shifted", one ? FaultParameter(all[0]) : FaultParameter(all),
                    one ? keys_text(all[0]) + " are seen, not " + std::to_string(lengths[0])
                        : "keys of the first entry are taken to be " + std::to_string(all[0]) +
                              ", not " + std::to_string(lengths[0]),
                    seeing([taken](Visible& visible, const Extents&) {
                      visible.key_length = taken(visible.key_length);
                    }),
                    5});
  };
  for (const Index n : shifts()) add([n](Index length) { return length + n; });
  for (const Index tile : kTiles) {
    add([tile](Index length) { return (length + tile - 1) / tile * tile; });
    add([tile](Index length) { return length / tile * tile; });
  }
}

void add_hidden(const JudgedOutput& judged, std::vector<Suspect>& list) {
  const auto add = [&](const char* fault, HiddenKeys hidden, const char* words) {
    KernelVariant variant;
    variant.hidden = hidden;
    list.push_back({fault, {}, words, variant});
  };
  add("mask-as-zero-score", HiddenKeys::zero_score, "hidden scores are set to 0");
  add("mask-after-softmax", HiddenKeys::without_value,
      "weights of hidden keys are set to 0 after the softmax");
  add("mask-added", HiddenKeys::seen_less, "the mask is added to the scores as 0 and 1");
  if (judged.softcap != 0)
    add("softcap-after-mask", HiddenKeys::lowest_cap, "the cap turns -inf into -cap");
}

void add_tiles(const JudgedOutput& judged, std::vector<Suspect>& list) {
  for (const Index tile : kTiles) {
    if (tile >= judged.problem.n.T_k) break;
    KernelVariant of_keys, of_queries;
    of_keys.mask_tile = tile;
    const Problem& problem = judged.problem;
    of_queries.source = [tile, &problem](Index head, Index t) {
      RowSource from = RowSource::own(head, t);
      from.seen_t = std::min(t / tile * tile + tile, problem.head(head).n.T_q) - 1;
      return from;
    };
    list.push_back({"mask-by-tiles", tile,
                    "the mask counts for tiles of " + keys_text(tile) + ", not for keys", of_keys,
                    4});
    list.push_back(
        {"mask-by-tiles", tile,
         "the mask counts for tiles of " + std::to_string(tile) + " queries, not for queries",
         of_queries, 4});
  }
}

/// Key j is seen by query t where key t would be by query j.
void transpose(Visible& visible, const Extents&) {
  std::swap(visible.left, visible.right);
  visible.offset = -visible.offset;
  if (visible.mask) std::swap(visible.mask->query_step, visible.mask->key_step);
}

}  // namespace

std::vector<Suspect> suspects_of_masks(const JudgedOutput& judged) {
  std::vector<Suspect> list;
  const Visible right = judged.mask.of_head(0);
  const bool has_edges = !is_open(right.left) || !is_open(right.right);
  if (right.is_everything()) return list;
  if (has_edges || right.mask)
    list.push_back(
        {"mask-missing", {}, "there is no mask", seeing([](Visible& visible, const Extents&) {
           visible.left = visible.right = Visible::kOpen;
           visible.mask.reset();
         })});
  if ((has_edges || right.mask) && !is_open(right.key_length))
    list.push_back({"mask-missing",
                    {},
                    "there is no mask, and no length",
                    seeing([](Visible& visible, const Extents&) {
                      const std::optional<Plane> bias = visible.bias;
                      visible = {};
                      visible.bias = bias;
                    })});
  if (has_edges) add_edges(right, list);
  if (has_edges && right.mask) {
    list.push_back({"mask-missing",
                    {},
                    "only the mask from a file counts",
                    seeing([](Visible& visible, const Extents&) {
                      visible.left = visible.right = Visible::kOpen;
                    })});
    list.push_back({"mask-missing",
                    {},
                    "the mask from a file does not count",
                    seeing([](Visible& visible, const Extents&) { visible.mask.reset(); })});
  }
  if (!is_open(right.key_length)) add_lengths(judged, list);
  KernelVariant inverted;
  if (right.mask)
    inverted.sight = [](Visible& visible, const Extents&) {
      visible.mask_hides = !visible.mask_hides;
    };
  else
    inverted.sees_hidden_only = true;
  list.push_back({"mask-inverted", {}, "True is taken for hidden", inverted});
  if (judged.problem.n.T_q == judged.problem.n.T_k && !judged.problem.packing.is_packed() &&
      (has_edges || right.mask))
    list.push_back(
        {"mask-transposed", {}, "queries and keys of the mask are swapped", seeing(transpose)});
  KernelVariant of_first_head;
  of_first_head.source = [](Index head, Index t) {
    RowSource from = RowSource::own(head, t);
    from.seen_head = 0;
    return from;
  };
  if (!judged.problem.packing.is_packed() && judged.heads() > 1)
    list.push_back(
        {"mask-of-first-head", {}, "every head has the mask of the first one", of_first_head});
  add_hidden(judged, list);
  add_tiles(judged, list);
  return list;
}

}  // namespace sdpa
