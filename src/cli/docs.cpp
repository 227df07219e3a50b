#include "cli/docs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace sdpa {

namespace {

constexpr std::string_view kUsage =
    R"(Usage: sdpa -q FILE -k FILE -v FILE [OPTION]...
       sdpa CASE [OPTION]...
       sdpa compare --help, sdpa check --help: is another result right?

Scaled dot-product attention, softmax(q k^T / sqrt(d_k)) v, correctly rounded.

Examples: sdpa -q q.npy -k k.npy -v v.npy -o out.npy
          sdpa case.json

FILE is .npy, JSON, one tensor as model.safetensors#NAME, raw numbers as
q.bin:float32:128x64, or - for standard input. CASE holds q, k and v: JSON,
.npz or .safetensors. Axes in front of the last two are a batch.
Options:
)";

constexpr std::string_view kCompareUsage =
    R"(Usage: sdpa compare ACTUAL EXPECTED [OPTION]...

Compares two arrays of one shape and says what differs, and where. Without a
tolerance values must be equal; the two zeros are.

Examples:
  sdpa compare mine.npy golden.npy
  sdpa compare mine.bin:bfloat16:8x128x64 golden.npy --max-ulp 2

Exit status: 0 equal or within the tolerance, 1 different, 2 not comparable.

Options:
)";

constexpr std::string_view kCheckUsage =
    R"(Usage: sdpa check ACTUAL -q FILE -k FILE -v FILE [OPTION]...

Computes softmax(q k^T / sqrt(d_k)) v exactly and judges whether ACTUAL is what
an honest kernel of the declared arithmetic may give.

Examples:
  sdpa check out.npy -q q.npy -k k.npy -v v.npy
  sdpa check out.npy -q q.npy -k k.npy -v v.npy --weights-in bfloat16 --json

Exit status: 0 within the bound, 1 outside, 2 no judgement.

Options:
)";

/// As "  -q, --query FILE".
std::string names_text(const CLI::Option& option) {
  const auto& short_names = option.get_snames();
  std::string text = short_names.empty() ? "      " : "  -" + short_names.front() + ", ";
  text += "--" + option.get_lnames().front();
  if (!option.get_type_name().empty()) text += " " + option.get_type_name();
  return text;
}

/// The usage, then names and description of each option in two columns.
std::string with_options(std::string_view usage, const CLI::App& app) {
  const std::vector<const CLI::Option*> options =
      app.get_options([](const CLI::Option* option) { return !option->get_positional(); });
  std::size_t width = 0;
  for (const CLI::Option* option : options) width = std::max(width, names_text(*option).size());
  std::string text(usage);
  for (const CLI::Option* option : options) {
    std::string line = names_text(*option);
    line.resize(width + 2, ' ');
    text += line + option->get_description() + "\n";
  }
  return text;
}

}  // namespace

std::string help_text(const CLI::App& app) {
  return with_options(kUsage, app);
}

std::string compare_help_text(const CLI::App& app) {
  return with_options(kCompareUsage, app);
}

std::string check_help_text(const CLI::App& app) {
  return with_options(kCheckUsage, app);
}

}  // namespace sdpa
