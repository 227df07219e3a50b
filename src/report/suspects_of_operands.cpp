#include "report/suspects.h"

#include <algorithm>
#include <cstdlib>

namespace sdpa {

namespace {

using Source = std::function<RowSource(Index head, Index t)>;

/// Heads of one entry of the batch.
struct Entry {
  Index H, G;

  Index first(Index head) const { return head / H * H; }
};

void add(std::vector<Suspect>& list, const char* fault, FaultParameter parameter,
         const std::string& words, Source source, double tried = 0) {
  KernelVariant variant;
  variant.source = std::move(source);
  list.push_back({fault, std::move(parameter), words, variant, tried});
}

/// A row with other keys.
Source with_keys_of(const std::function<Index(Index head)>& k_head,
                    const std::function<Index(Index head)>& v_head) {
  return [k_head, v_head](Index head, Index t) {
    RowSource from = RowSource::own(head, t);
    from.k_head = k_head(head);
    from.v_head = v_head(head);
    return from;
  };
}

Index itself(Index head) {
  return head;
}

void add_heads(const Entry& entry, std::vector<Suspect>& list) {
  const auto keys = [&](const char* fault, FaultParameter parameter, const std::string& words,
                        const std::function<Index(Index)>& other, double tried = 0) {
    add(list, fault, std::move(parameter), words, with_keys_of(other, other), tried);
  };
  if (entry.G > 1 && entry.G < entry.H)
    keys("heads-tiled", {}, "query head h uses key head h mod " + std::to_string(entry.G),
         [entry](Index head) {
           return entry.first(head) + head % entry.H % entry.G * (entry.H / entry.G);
         });
  if (entry.H == 1) return;
  keys("first-head-for-all", {}, "every head uses the keys and values of head 0",
       [entry](Index head) { return entry.first(head); });
  for (Index n = 1; n < std::min<Index>(entry.H, 64); ++n) {
    const auto other = [entry, n](Index head) {
      return entry.first(head) + (head % entry.H + entry.H - n) % entry.H;
    };
    add(
        list, "heads-shifted", n, "head h stands in head h + " + std::to_string(n) + " (round)",
        [other](Index head, Index t) { return RowSource::own(other(head), t); }, 6);
    keys("keys-of-another-head", n,
         "head h + " + std::to_string(n) + " uses the keys and values of head h (round)", other, 6);
    add(list, "k-of-another-head", n,
        "head h + " + std::to_string(n) + " uses the keys of head h (round)",
        with_keys_of(other, itself), 6);
    add(list, "v-of-another-head", n,
        "head h + " + std::to_string(n) + " uses the values of head h (round)",
        with_keys_of(itself, other), 6);
  }
}

void add_batch(const Problem& problem, const Entry& entry, std::vector<Suspect>& list) {
  if (problem.batch == 1) return;
  const auto add_all = [&](FaultParameter parameter, const std::string& whose,
                           const std::function<Index(Index)>& other) {
    add(list, "k-of-another-entry", parameter, "k is that of " + whose, with_keys_of(other, itself),
        5);
    add(list, "v-of-another-entry", parameter, "v is that of " + whose, with_keys_of(itself, other),
        5);
    add(list, "keys-of-another-entry", parameter, "k and v are those of " + whose,
        with_keys_of(other, other), 5);
  };
  add_all("first", "the first entry of the batch", [entry](Index head) { return head % entry.H; });
  for (Index n = 1; n < std::min<Index>(problem.batch, 16); ++n)
    add_all(
        n, "the entry of the batch " + std::to_string(n) + " further (round)",
        [H = entry.H, n, heads = problem.heads()](Index head) { return (head + n * H) % heads; });
}

/// The order of heads and T in memory, taken the other way round on the way in, out, or both.
void add_layout(const Problem& problem, const Entry& entry, std::vector<Suspect>& list) {
  const bool heads_first = problem.layout.order == AxisOrder::htd && !problem.layout.heads;
  const Index H = entry.H, T_q = problem.n.T_q;
  if (H == 1) return;
  const std::string words =
      heads_first ? "(H, T, d) is taken as (T, H, d)" : "(T, H, d) is taken as (H, T, d)";
  // The row of memory that holds row (head, t), and the head and query that are taken to be there.
  const auto memory = [=](Index head, Index t) {
    return heads_first ? head * T_q + t : t * H + head;
  };
  const auto taken = [=](Index row) {
    return heads_first ? std::pair(row % H, row / H) : std::pair(row / T_q, row % T_q);
  };
  // Where a kernel that takes it so has row (head, t), and what is there in truth.
  const auto memory_taken = [=](Index head, Index t) {
    return heads_first ? t * H + head : head * T_q + t;
  };
  const auto truly = [=](Index row) {
    return heads_first ? std::pair(row / T_q, row % T_q) : std::pair(row % H, row / H);
  };
  const auto regrouped = [&](const std::string& how, Source source) {
    KernelVariant variant;
    variant.source = std::move(source);
    variant.operands = TakenOperands::regrouped;
    list.push_back({"layout", {}, words + how, variant, 2});
  };
  regrouped(", in and out", [=](Index head, Index t) {
    const Index first = entry.first(head);
    const auto [h, row] = taken(memory(head % H, t));
    return RowSource{head, t, first + h, first + h, first + h, row};
  });
  regrouped(", in but not out", [=](Index head, Index t) {
    const auto [h, row] = truly(memory_taken(head % H, t));
    return RowSource{entry.first(head) + h, row, head, head, head, t};
  });
  add(
      list, "layout", {}, words + ", out but not in",
      [=](Index head, Index t) {
        const auto [h, row] = taken(memory(head % H, t));
        return RowSource::own(entry.first(head) + h, row);
      },
      2);
}

void add_stale_tiles(Index T_k, std::vector<Suspect>& list) {
  constexpr Index kMostTiles = 128;
  for (const Index tile : {16, 32, 64, 128, 256, 8, 4}) {
    const Index tiles = (T_k + tile - 1) / tile;
    if (tiles > kMostTiles) continue;
    for (Index i = 1; i < tiles; ++i)
      for (int what = 1; what <= 3; ++what) {
        KernelVariant variant;
        variant.stale = KeyRun{i * tile, std::min(T_k, (i + 1) * tile)};
        variant.stale_by = tile;
        variant.stale_k = (what & 1) != 0;
        variant.stale_v = (what & 2) != 0;
        constexpr const char* kWhat[] = {"", "k of", "v of", ""};
        list.push_back({what == 1   ? "k-tile-stale"
                        : what == 2 ? "v-tile-stale"
                                    : "tile-stale",
                        std::vector<Index>{variant.stale->first, variant.stale->end},
                        std::string(kWhat[what]) + (what == 3 ? "" : " ") + "keys " +
                            std::to_string(variant.stale->first) + " to " +
                            std::to_string(variant.stale->end - 1) + (what == 3 ? " are" : " is") +
                            " those of the tile before",
                        variant, 10});
      }
  }
}

}  // namespace

Suspect rows_suspect(const JudgedOutput& judged, Index n, bool round) {
  KernelVariant variant;
  const Problem& problem = judged.problem;
  variant.source = [n, round, &problem](Index head, Index t) {
    const Index T_q = problem.head(head).n.T_q, from = t - n;
    const bool is_inside = from >= 0 && from < T_q;
    return RowSource::own(head, is_inside ? from : round ? (from % T_q + T_q) % T_q : t);
  };
  const std::string words = n == 1 && !round
                                ? "each row is the one before it"
                                : "row t stands in row t + " + std::to_string(n) +
                                      (round ? " (round)" : " (none comes in at the end)");
  return {round ? "rows-shifted" : "rows-repeated", n, words, variant, 8};
}

std::vector<Suspect> suspects_of_operands(const JudgedOutput& judged) {
  std::vector<Suspect> list;
  const Problem& problem = judged.problem;
  KernelVariant swapped, transposed;
  swapped.operands = TakenOperands::swapped;
  transposed.operands = TakenOperands::v_transposed;
  if (problem.n.d_k == problem.n.d_v)
    list.push_back({"k-v-swapped", {}, "k and v are swapped", swapped});
  list.push_back({"v-transposed", {}, "v is taken as if it lay in (d_v, T_k)", transposed});
  for (const bool round : {true, false})
    for (const Index n : {1, -1, 2, -2, 3, -3, 4, -4, 8, -8, 16, -16, 32, -32, 64, -64, 128, -128})
      if (2 * n <= problem.n.T_q && -2 * n < problem.n.T_q)
        list.push_back(rows_suspect(judged, n, round));
  for (const Index n : {1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32, 64, -64, 128, -128, 256}) {
    KernelVariant variant;
    variant.v_shift = n;
    list.push_back({"v-shifted", n,
                    "key j has the value of key j " + std::string(n < 0 ? "+ " : "- ") +
                        std::to_string(std::abs(n)) + " (round)",
                    variant, 5});
  }
  if (problem.packing.is_packed()) return list;
  const Entry entry{problem.q.heads(), problem.k.heads()};
  add_heads(entry, list);
  add_batch(problem, entry, list);
  add_layout(problem, entry, list);
  add_stale_tiles(problem.n.T_k, list);
  return list;
}

}  // namespace sdpa
