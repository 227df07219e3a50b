#include "attention/mask.h"

#include "cli/commands.h"
#include "cli/report_text.h"
#include "cli/streams.h"
#include "io/array_writer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace sdpa {

namespace {

/// The mask of each head, and how much of it is visible.
struct MaskedHeads {
  Index heads = 1, T_q, T_k;
  Mask mask;
  Index visible_pairs = 0, empty_rows = 0;
  std::vector<Survey> surveys;
};

std::span<const Index> leading(const Shape& shape) {
  return shape.extents().first(static_cast<std::size_t>(shape.rank() - 2));
}

MaskedHeads look(const MaskCommandOptions& options) {
  const Shape& shape = options.shape;
  MaskedHeads all{1,
                  shape.from_end(2),
                  shape.from_end(1),
                  Mask(read_mask(options.mask), leading(shape), shape.rank() > 3, shape.from_end(2),
                       shape.from_end(1)),
                  0,
                  0,
                  {}};
  for (Index extent : leading(shape)) all.heads *= extent;
  for (Index h = 0; h < all.heads; ++h) {
    const Visible visible = all.mask.of_head(h);
    const Survey& seen = all.surveys.emplace_back(survey(visible, all.T_q, all.T_k, 1));
    for (Index t = 0; t < all.T_q; ++t) {
      const Index keys = seen.counts[static_cast<std::size_t>(t)];
      all.visible_pairs += keys;
      if (keys == 0 && t < visible.query_length) ++all.empty_rows;
    }
  }
  return all;
}

std::string applied_text(const MaskedHeads& all) {
  return all.mask.text() + "; " +
         visible_text(all.visible_pairs, all.heads * all.T_q * all.T_k, all.empty_rows);
}

/// [T_k] whether query t sees each key, 1 or 0.
std::vector<std::byte> row_of(const Visible& visible, Index t, Index T_k) {
  std::vector<std::byte> row(static_cast<std::size_t>(T_k));
  for (const KeyRun& run : visible.runs(t, T_k))
    std::fill(row.begin() + run.first, row.begin() + run.end, std::byte{1});
  return row;
}

void write_array(const MaskedHeads& all, const MaskCommandOptions& options) {
  const auto writer = open_array_writer(*options.output, options.shape, Dtype::boolean, "mask");
  for (Index h = 0; h < all.heads; ++h) {
    const Visible visible = all.mask.of_head(h);
    for (Index t = 0; t < all.T_q; ++t) writer->append(row_of(visible, t, all.T_k));
  }
  writer->commit();
}

bool writes_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos ||
           locale.find("UTF8") != locale.npos;
  }
  return false;
}

/// Columns that a picture may take.
Index picture_width() {
  constexpr Index kUsual = 80;
  winsize size{};
  const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : kUsual;
}

/// What stands for pairs that are all, partly or not visible.
struct Signs {
  const char *all, *some, *none;
};

/// A picture of one head: queries downwards, keys to the right, `cell` of each a sign.
std::string picture(const Visible& visible, Index T_q, Index T_k, Index cell, const Signs& signs) {
  std::string text;
  const char* between = cell == 1 ? " " : "";
  for (Index first = 0; first < T_q; first += cell) {
    const Index rows = std::min(cell, T_q - first);
    std::vector<Index> seen(static_cast<std::size_t>((T_k + cell - 1) / cell));
    for (Index t = first; t < first + rows; ++t)
      for (const KeyRun& run : visible.runs(t, T_k))
        for (Index j = run.first; j < run.end; ++j) ++seen[static_cast<std::size_t>(j / cell)];
    for (std::size_t c = 0; c < seen.size(); ++c) {
      const Index pairs = rows * std::min(cell, T_k - static_cast<Index>(c) * cell);
      text += c == 0 ? "" : between;
      text += seen[c] == pairs ? signs.all : seen[c] == 0 ? signs.none : signs.some;
    }
    // Nothing but blanks need not be written.
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string text(const MaskedHeads& all, const Shape& shape) {
  constexpr Signs kPlain = {"#", "+", "."}, kReducedPlain = {"#", "+", " "};
  constexpr Signs kUtf8 = {"■", "■", "·"}, kReducedUtf8 = {"█", "░", " "};
  const Index width = picture_width();
  const bool fits = 2 * all.T_k - 1 <= width;
  const Index cell = fits ? 1 : (all.T_k + width - 1) / width;
  const bool reduced = cell > 1 || !fits;
  const Signs& signs = writes_utf8() ? reduced ? kReducedUtf8 : kUtf8
                       : reduced     ? kReducedPlain
                                     : kPlain;
  std::string text = "queries downwards (" + std::to_string(all.T_q) + "), keys to the right (" +
                     std::to_string(all.T_k) + ")";
  if (cell > 1)
    text += "; a sign is " + std::to_string(cell) + " x " + std::to_string(cell) +
            " pairs: " + signs.all + " all visible, " + signs.some + " some, blank none";
  text += '\n';
  std::vector<Index> heads(leading(shape).begin(), leading(shape).end());
  for (Index h = 0; h < all.heads; ++h) {
    if (all.heads > 1) text += "\n" + Shape(heads).index_text(h) + "\n";
    text += picture(all.mask.of_head(h), all.T_q, all.T_k, cell, signs);
  }
  return text + applied_text(all) + "\n";
}

std::string json(const MaskedHeads& all, const Shape& shape) {
  nlohmann::ordered_json extents = nlohmann::ordered_json::array();
  for (Index extent : shape.extents()) extents.push_back(extent);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (Index h = 0; h < all.heads; ++h)
    for (Index t = 0; t < all.T_q; ++t) {
      nlohmann::ordered_json runs = nlohmann::ordered_json::array();
      for (const KeyRun& run : all.mask.of_head(h).runs(t, all.T_k))
        runs.push_back({run.first, run.end});
      rows.push_back(runs);
    }
  return document_text({{"applied", all.mask.text()},
                        {"shape", extents},
                        {"visible_pairs", all.visible_pairs},
                        {"pairs", all.heads * all.T_q * all.T_k},
                        {"empty_rows", all.empty_rows},
                        {"visible_runs_of_rows", rows}});
}

}  // namespace

int run(const MaskCommandOptions& options) {
  const MaskedHeads all = look(options);
  if (options.output) write_array(all, options);
  if (options.json)
    print(json(all, options.shape));
  else if (!options.output)
    print(text(all, options.shape));
  return 0;
}

}  // namespace sdpa
