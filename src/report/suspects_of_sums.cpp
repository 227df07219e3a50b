#include "report/suspects.h"
#include "report/textbook.h"
#include "report/ulp.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace sdpa {

namespace {

void add_tiles(const char* fault, TileFault tile_fault, Index tile, const char* words,
               std::vector<Suspect>& list) {
  KernelVariant variant;
  variant.tile_fault = tile_fault;
  variant.tile = tile;
  list.push_back({fault, tile, std::string(words) + ", tiles of " + std::to_string(tile) + " keys",
                  variant, 8});
}

void add_rescaling(Index T_k, std::vector<Suspect>& list) {
  constexpr Index kLargest = 256;
  constexpr const char* kOutput =
      "when the maximum grows, the sum of exponentials is rescaled, the output is not";
  std::set<Index> rounder;
  for (Index tile = 1; tile < std::min(T_k, 2 * kLargest); tile *= 2) {
    rounder.insert(tile);
    add_tiles("no-rescale", TileFault::output_not_rescaled, tile, kOutput, list);
    add_tiles("no-rescale-sum", TileFault::sum_not_rescaled, tile,
              "when the maximum grows, the output is rescaled, the sum of exponentials is not",
              list);
    add_tiles("no-rescale-both", TileFault::nothing_rescaled, tile,
              "when the maximum grows, nothing is rescaled", list);
    add_tiles("scale-per-tile", TileFault::scaled_again, tile,
              "each tile of keys is scaled once more than the one before", list);
  }
  for (Index tile = 2; tile < std::min(T_k, kLargest); ++tile)
    if (!rounder.contains(tile))
      add_tiles("no-rescale", TileFault::output_not_rescaled, tile, kOutput, list);
}

void add_merging(Index T_k, std::vector<Suspect>& list) {
  const auto add = [&](Index tile) {
    struct Power {
      const char* fault;
      double exponent;
      const char* words;
    };
    for (const Power& power :
         {Power{"lse-base-2", std::numbers::ln2, "splits are merged by 2 to a natural log-sum-exp"},
          Power{"lse-base-2", std::numbers::log2e,
                "splits are merged by e to a log-sum-exp in base 2"},
          Power{"splits-averaged", 0, "splits are averaged, whatever their log-sum-exp"}}) {
      KernelVariant variant;
      variant.tile_fault = TileFault::merged_with_exponent;
      variant.tile = tile;
      variant.exponent = power.exponent;
      list.push_back({power.fault, tile,
                      std::string(power.words) + ", splits of " + std::to_string(tile) + " keys",
                      variant, 6});
    }
  };
  std::set<Index> tiles;
  for (Index splits = 2; splits <= 16; ++splits) tiles.insert((T_k + splits - 1) / splits);
  for (Index tile = 16; tile <= 2048; tile *= 2) tiles.insert(tile);
  for (const Index tile : tiles)
    if (tile < T_k) add(tile);
}

/// Whether the softmax may have gone over the queries. The weights of each key sum to one over them,
/// so the rows of the output sum to those of v: that is seen at once, where every query sees every
/// key, and the sums over all queries take long.
bool may_be_over_queries(const JudgedOutput& judged) {
  if (!judged.mask.is_everything() || judged.sink) return true;
  const Index d_v = judged.problem.n.d_v;
  const auto columns = static_cast<std::size_t>(d_v);
  const double tolerance = 4 * unit_roundoff(judged.roundings.output) + 0x1p-18;
  for (Index head = 0; head < judged.heads(); ++head) {
    const RowRange all = judged.problem.rows_of(head);
    const MatrixView v = judged.problem.head(head).v;
    textbook::Values difference(columns), sizes(columns), row(columns);
    const auto add = [&](double sign) {
      for (std::size_t d = 0; d < columns; ++d) {
        difference[d] += sign * row[d];
        sizes[d] += std::fabs(row[d]);
      }
    };
    for (Index t = 0; t < all.count; ++t) {
      read_elements(judged.actual, (all.first + t) * d_v, d_v, row.data());
      add(1);
    }
    for (Index j = 0; j < v.rows(); ++j) {
      v.read_rows(j, 1, row.data());
      add(-1);
    }
    bool agrees = true;
    for (std::size_t d = 0; d < columns; ++d)
      agrees = agrees && std::fabs(difference[d]) <= tolerance * sizes[d];
    if (agrees) return true;
  }
  return false;
}

}  // namespace

Suspect missing_suspect(KeyRun run) {
  KernelVariant variant;
  variant.missing = run;
  return {"keys-missing", std::vector<Index>{run.first, run.end},
          run.count() == 1 ? "key " + std::to_string(run.first) + " is not seen"
                           : "keys " + std::to_string(run.first) + " to " +
                                 std::to_string(run.end - 1) + " are not seen",
          variant, 20};
}

Suspect padding_suspect(Index keys) {
  KernelVariant variant;
  variant.padding = static_cast<double>(keys);
  return {"keys-padded", keys,
          std::to_string(keys) + (keys == 1 ? " key" : " keys") +
              " of zeros behind the last one take part",
          variant, 8};
}

std::vector<Suspect> suspects_of_sums(const JudgedOutput& judged) {
  std::vector<Suspect> list;
  const Index T_k = judged.problem.n.T_k;
  KernelVariant undivided, without_maximum, over_queries;
  undivided.divisor = Divisor::nothing;
  without_maximum.divisor = Divisor::nothing_no_maximum;
  over_queries.divisor = Divisor::sum_over_queries;
  list.push_back({"not-normalised", {}, "numerators are not divided by their sum", undivided});
  list.push_back({"not-normalised",
                  {},
                  "numerators, of which the maximum is not taken, are not divided by their sum",
                  without_maximum});
  if (may_be_over_queries(judged))
    list.push_back({"softmax-over-queries",
                    {},
                    "the softmax goes over the queries instead of the keys",
                    over_queries});
  for (const Index multiple : {8, 16, 32, 64, 128, 256}) {
    const Index padding = (multiple - T_k % multiple) % multiple;
    if (padding == 0) continue;
    list.push_back(padding_suspect(padding));
    if (judged.softcap == 0) continue;
    Suspect capped = padding_suspect(padding);
    capped.fault = "softcap-after-mask";
    capped.words =
        "the cap turns -inf into -cap in " + std::to_string(padding) + " keys behind the last one";
    capped.variant.padding_is_capped = true;
    list.push_back(capped);
  }
  add_rescaling(T_k, list);
  add_merging(T_k, list);
  return list;
}

}  // namespace sdpa
