#include "cli/docs.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sdpa {

namespace {

constexpr std::string_view kUsage =
    R"(Usage: sdpa -q FILE -k FILE -v FILE [OPTION]...
       sdpa CASE [OPTION]...
       sdpa compare --help, sdpa check --help: is another result right?
       sdpa mask --help: which keys does a query see?

Scaled dot-product attention, softmax(q k^T / sqrt(d_k)) v, correctly rounded.

Examples: sdpa -q q.npy -k k.npy -v v.npy -o out.npy
          sdpa case.json

FILE is .npy, JSON, one tensor as model.safetensors#NAME, raw numbers as
q.bin:float32:128x64, or - for standard input. CASE holds q, k and v: JSON,
.npz or .safetensors. Axes in front of the last two are a batch.
)";

constexpr std::string_view kCompareUsage =
    R"(Usage: sdpa compare ACTUAL EXPECTED [OPTION]...

Compares two arrays of one shape and says what differs, and where. Without a
tolerance values must be equal; the two zeros are.

Examples:
  sdpa compare mine.npy golden.npy
  sdpa compare mine.bin:bfloat16:8x128x64 golden.npy --max-ulp 2

Exit status: 0 equal or within the tolerance, 1 different, 2 not comparable.
)";

constexpr std::string_view kCheckUsage =
    R"(Usage: sdpa check ACTUAL -q FILE -k FILE -v FILE [OPTION]...
       sdpa check ACTUAL CASE [OPTION]...
       sdpa check CASE [OPTION]...: its own output

Computes softmax(q k^T / sqrt(d_k)) v exactly and judges whether ACTUAL is what
an honest kernel of the declared arithmetic may give.

Examples:
  sdpa check out.npy -q q.npy -k k.npy -v v.npy
  sdpa check out.npy -q q.npy -k k.npy -v v.npy --arithmetic weights=bfloat16

Exit status: 0 within the bound, 1 outside, 2 no judgement.
)";

constexpr std::string_view kMaskUsage =
    R"(Usage: sdpa mask --shape T_qxT_k [OPTION]...

Shows which keys each query sees: all those that every option given allows.
Query t is at the position p = t + offset of the keys. The output is a picture;
with -o it is an array of bool instead.

Examples:
  sdpa mask --shape 8x12 --causal --align bottom-right
  sdpa mask --shape 512x512 --window 128,0 -o mask.npy

Windows elsewhere, W keys with the query's own: --window W-1,0
  sliding_window W (Hugging Face, Mistral)          --causal --window W-1,0
  window_size (L, R) (FlashAttention; -1 is open)   --window L,R; inf for -1
  local_window_size (L, R) (JAX)                    --window L,R
)";

/// As "  -q, --query FILE".
std::string names_text(const OptionSpec& option) {
  const std::string short_name = option.short_name();
  std::string text = "  " + (short_name.empty() ? "    " : short_name + ", ") + option.long_name();
  if (!option.value.empty()) text.append(" ").append(option.value);
  return text;
}

/// The text broken at blanks into lines that end at column 80 and begin at `indent`, the first one
/// behind what stands there already.
std::string in_lines(std::string_view text, std::size_t indent) {
  constexpr std::size_t kWidth = 80;
  std::string lines;
  for (std::size_t column = indent; !text.empty();) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > indent && column + 1 + end > kWidth) {
      lines.append("\n").append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      lines += ' ';
      ++column;
    }
    lines += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines + "\n";
}

}  // namespace

std::string_view usage(Command command) {
  switch (command) {
    case Command::compare:
      return kCompareUsage;
    case Command::check:
      return kCheckUsage;
    case Command::mask:
      return kMaskUsage;
    default:
      return kUsage;
  }
}

std::string help_text(Command command) {
  std::vector<const OptionSpec*> options = options_of(command);
  std::erase_if(options, [](const OptionSpec* option) { return option->is_positional(); });
  std::size_t width = 0;
  for (const OptionSpec* option : options) width = std::max(width, names_text(*option).size());
  std::string text(usage(command));
  std::string_view group;
  for (const OptionSpec* option : options) {
    if (option->group != group) text.append("\n").append(option->group).append(":\n");
    group = option->group;
    std::string names = names_text(*option);
    names.resize(width + 2, ' ');
    text += names + in_lines(option->description, width + 2);
  }
  return text;
}

}  // namespace sdpa
