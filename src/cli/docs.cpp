#include "cli/docs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <string_view>

namespace sdpa {

namespace {

constexpr std::string_view kUsage =
    R"(Usage: sdpa -q FILE -k FILE -v FILE [OPTION]...
       sdpa CASE [OPTION]...

Scaled dot-product attention, softmax(q k^T / sqrt(d_k)) v, correctly rounded.

Examples:
  sdpa -q q.npy -k k.npy -v v.npy -o out.npy
  sdpa case.json

FILE is .npy, JSON, one tensor as model.safetensors#NAME, raw numbers as
q.bin:float32:128x64, or - for standard input. CASE holds q, k and v: JSON,
.npz or .safetensors. Axes in front of the last two are a batch.

Options:
)";

/// Column at which descriptions begin.
constexpr std::size_t kIndent = 22;

/// As "  -q, --query FILE".
std::string names_text(const CLI::Option& option) {
  const auto& short_names = option.get_snames();
  std::string text = short_names.empty() ? "      " : "  -" + short_names.front() + ", ";
  text += "--" + option.get_lnames().front();
  if (!option.get_type_name().empty()) text += " " + option.get_type_name();
  return text;
}

}  // namespace

std::string help_text(const CLI::App& app) {
  std::string text(kUsage);
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    std::string line = names_text(*option);
    line.resize(std::max(line.size() + 2, kIndent), ' ');
    text += line + option->get_description() + "\n";
  }
  return text;
}

}  // namespace sdpa
