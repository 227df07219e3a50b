#include "cli/option_table.h"

#include "cli/option_values.h"

#include <algorithm>

namespace sdpa {

namespace {

using enum Command;
using enum ValueKind;

const std::vector<Command> kAttend = {attend};
const std::vector<Command> kCompare = {compare};
const std::vector<Command> kCheck = {check};
const std::vector<Command> kMask = {Command::mask};
const std::vector<Command> kAll = {attend, compare, check, Command::mask};
const std::vector<Command> kWriting = {attend, Command::mask};
const std::vector<Command> kMasking = {attend, check, Command::mask};
const std::vector<Command> kComputing = {attend, check};
const std::vector<Command> kReporting = {compare, check};
const std::vector<Command> kReportingAny = {compare, check, Command::mask};

const std::vector<OptionSpec> kTable = {
    {"CASE", "FILE", "all three inputs", "", kAttend, input,
     [](const Given& g, AllOptions& o) { o.problem.case_file = g.word; }},
    {"ACTUAL", "FILE", "the output at hand", "", kReporting, input,
     [](const Given& g, AllOptions& o) { o.actual = g.word; }},
    {"CASE", "FILE", "all three inputs, if not by -q, -k and -v", "", kCheck, input,
     [](const Given& g, AllOptions& o) { o.problem.case_file = g.word; }},
    {"EXPECTED", "FILE", "the right output", "", kCompare, input,
     [](const Given& g, AllOptions& o) { o.expected = g.word; }},

    {"-q,--query", "FILE", "queries (T_q, d_k)", "Inputs", kComputing, input,
     [](const Given& g, AllOptions& o) { o.problem.q = g.word; }},
    {"-k,--key",
     "FILE",
     "keys (T_k, d_k); given again, more of them, as behind those of a cache",
     "Inputs",
     kComputing,
     input,
     [](const Given& g, AllOptions& o) { o.problem.k.push_back(g.word); },
     {},
     true},
    {"-v,--value",
     "FILE",
     "values (T_k, d_v); likewise",
     "Inputs",
     kComputing,
     input,
     [](const Given& g, AllOptions& o) { o.problem.v.push_back(g.word); },
     {},
     true},

    {"--layout",
     "L",
     "order of the last three axes: htd (the default: heads, T, d) or thd (T, heads, d)",
     "Heads",
     kComputing,
     choice,
     [](const Given& g, AllOptions& o) { o.problem.layout.order = AxisOrder(g.choice); },
     {kAxisOrders[0], kAxisOrders[1]}},
    {"--heads", "H", "heads that lie side by side in the last axis of q", "Heads", kComputing, text,
     [](const Given& g, AllOptions& o) { o.problem.layout.heads = heads_from(g); }},
    {"--cu-seqlens-q", "FILE", "where packed sequences begin in q (total, H, d), and their end",
     "Heads", kComputing, input,
     [](const Given& g, AllOptions& o) { o.problem.layout.cu_seqlens_q = g.word; }},
    {"--cu-seqlens-k", "FILE", "the same in k and v; both need --layout thd", "Heads", kComputing,
     input, [](const Given& g, AllOptions& o) { o.problem.layout.cu_seqlens_k = g.word; }},

    {"--shape", "SHAPE", "T_q and T_k, as 8x12; extents of a batch and heads before them",
     "Results", kMask, text, [](const Given& g, AllOptions& o) { o.shape = shape_from(g); }},
    {"-o,--output", "FILE",
     ".npy, .npz, .safetensors, .json, .csv, .txt or .bin; default: standard output, as JSON",
     "Results", kWriting, output, [](const Given& g, AllOptions& o) { o.output = g.word; }},
    {"--format",
     "FORM",
     "of what is written, whatever its name: npy, npz, safetensors, json, csv, txt or bin",
     "Results",
     kAttend,
     choice,
     [](const Given& g, AllOptions& o) { o.format = OutputForm(g.choice); },
     {std::begin(kOutputForms), std::end(kOutputForms)}},
    {"-w,--weights", "FILE", "also write the weights (T_q, T_k)", "Results", kAttend, output,
     [](const Given& g, AllOptions& o) { o.weights = g.word; }},
    {"--lse", "FILE",
     "also write ln(sum exp(scores)) of each row (..., H, T_q); -inf: it sees no key", "Results",
     kAttend, output, [](const Given& g, AllOptions& o) { o.lse = g.word; }},
    {"--scores", "FILE", "also write the scores (..., H, T_q, T_k)", "Results", kAttend, output,
     [](const Given& g, AllOptions& o) { o.scores = g.word; }},
    {"--scores-after",
     "STAGE",
     "which: mask (the default: with bias, -inf where hidden), softcap or scale",
     "Results",
     kAttend,
     choice,
     [](const Given& g, AllOptions& o) { o.scores_after = ScoreStage(g.choice); },
     {"scale", "softcap", "mask"}},
    {"--dtype", "TYPE",
     "of what is written: float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, or "
     "short: "
     "half, bf16, fp32, e4m3 ...",
     "Results", kAttend, float_type,
     [](const Given& g, AllOptions& o) { o.settings.dtype = float_type_from(g); }},
    {"--precision",
     "P",
     "exact (the default), float64 or float32",
     "Results",
     kAttend,
     choice,
     [](const Given& g, AllOptions& o) { o.settings.precision = Precision(g.choice); },
     {"exact", "float64", "float32"}},

    {"--scale", "X", "in place of 1/sqrt(d_k): a number, as 0.1 or 0.1f (float32), or 1/sqrt(N)",
     "Scores", kComputing, text,
     [](const Given& g, AllOptions& o) { o.problem.scoring.scale = scale_from(g.name, g.word); }},
    {"--softcap", "C", "scaled scores s become C tanh(s/C)", "Scores", kComputing, text,
     [](const Given& g, AllOptions& o) {
       o.problem.scoring.softcap = softcap_from(g.name, g.word);
     }},
    {"--sinks", "X|FILE", "one more logit, without a value, in each head's softmax; FILE: (H)",
     "Scores", kComputing, input,
     [](const Given& g, AllOptions& o) { o.problem.scoring.sinks = g.word; }},

    {"--causal", "", "query t sees keys up to its position p = t + offset", "Masks", kMasking, none,
     [](const Given&, AllOptions& o) { o.problem.mask.causal = true; }},
    {"--window", "L,R", "keys from p - L to p + R; inf leaves a side open", "Masks", kMasking, text,
     [](const Given& g, AllOptions& o) { o.problem.mask.window = window_from(g.name, g.word); }},
    {"--align", "A",
     "the offset: top-left (0), bottom-right (T_k - T_q, or of the lengths) or a number", "Masks",
     kMasking, text,
     [](const Given& g, AllOptions& o) { o.problem.mask.align = alignment_from(g.name, g.word); }},
    {"--key-lengths", "N,...", "keys that are there: one for all or for each batch entry; or FILE",
     "Masks", kMasking, lengths,
     [](const Given& g, AllOptions& o) { o.problem.mask.key_lengths = g.word; }},
    {"--query-lengths", "N,...", "the same of queries; rows behind are 0", "Masks", kMasking,
     lengths, [](const Given& g, AllOptions& o) { o.problem.mask.query_lengths = g.word; }},
    {"--mask", "FILE", "bool, broadcast to (..., T_q, T_k): true attends", "Masks", kMasking, input,
     [](const Given& g, AllOptions& o) { o.problem.mask.mask = g.word; }},
    {"--mask-true",
     "WHAT",
     "attend (the default), or ignore: true hides",
     "Masks",
     kMasking,
     choice,
     [](const Given& g, AllOptions& o) { o.problem.mask.mask_hides = g.choice == 1; },
     {kMaskTrue[0], kMaskTrue[1]}},
    {"--bias", "FILE", "added to the scaled scores, broadcast; -inf hides", "Masks", kMasking,
     input, [](const Given& g, AllOptions& o) { o.problem.mask.bias = g.word; }},
    {"--empty-rows",
     "WHAT",
     "of queries that see no key: zero (the default), nan, mean, error",
     "Masks",
     kMasking,
     choice,
     [](const Given& g, AllOptions& o) { o.problem.mask.empty_rows = EmptyRows(g.choice); },
     {kEmptyRows[0], kEmptyRows[1], kEmptyRows[2], kEmptyRows[3]}},

    {"--bitwise", "", "the same bits: signs of zeros and NaN too", "Tolerance", kCompare, none,
     [](const Given&, AllOptions& o) { o.tolerance.bitwise = true; }},
    {"--max-ulp", "N", "allow N steps of the less precise of the two types", "Tolerance", kCompare,
     text, [](const Given& g, AllOptions& o) { o.tolerance.max_ulp = steps_from(g); }},
    {"--atol", "X", "allow X + Y |expected|", "Tolerance", kCompare, text,
     [](const Given& g, AllOptions& o) { o.tolerance.atol = size_from(g); }},
    {"--rtol", "Y", "the Y of --atol", "Tolerance", kCompare, text,
     [](const Given& g, AllOptions& o) { o.tolerance.rtol = size_from(g); }},
    {"--nan-equal", "", "a NaN equals a NaN", "Tolerance", kCompare, none,
     [](const Given&, AllOptions& o) { o.tolerance.nan_equal = true; }},

    {"--arithmetic", "LIST",
     "what it rounds to: sums=TYPE (default: float32, or float64 if ACTUAL is), weights=TYPE (16 "
     "bits if v and ACTUAL are), scores=TYPE, products=tf32|bfloat16|float16, exp=ERROR, step=STEP",
     "Kernel", kCheck, text,
     [](const Given& g, AllOptions& o) { o.arithmetic = arithmetic_from(g.name, g.word); }},
    {"--strict", "",
     "no judgement if a wrong scale, softmax, key or mask, or a missing maximum, would "
     "not show in these data",
     "Kernel", kCheck, none, [](const Given&, AllOptions& o) { o.strict = true; }},
    {"--error-map", "FILE", "write the errors in units of the bound, float32, as the output lies",
     "Kernel", kCheck, output, [](const Given& g, AllOptions& o) { o.error_map = g.word; }},

    {"--lines", "", "CASE has a case a line, as JSON; a result, or an error, a line", "Other",
     kAttend, none, [](const Given&, AllOptions& o) { o.lines = true; }},
    {"--threads", "N", "default: all processors; changes no byte of a result", "Other", kComputing,
     text, [](const Given& g, AllOptions& o) { o.settings.threads = threads_from(g); }},
    {"--progress",
     "WHEN",
     "auto (the default: on a terminal), always or never",
     "Other",
     kComputing,
     choice,
     [](const Given& g, AllOptions& o) { o.progress = ShowProgress(g.choice); },
     {"auto", "always", "never"}},
    {"--json", "", "the report as one JSON object", "Other", kReportingAny, none,
     [](const Given&, AllOptions& o) { o.json = true; }},
    {"--verbose", "", "say on standard error which layout and mask were applied", "Other", kAttend,
     none, [](const Given&, AllOptions& o) { o.verbose = true; }},

    {"--generate",
     "WHAT",
     "print the manual page (man), or completions for bash, zsh or fish",
     "Other",
     kAttend,
     choice,
     [](const Given& g, AllOptions& o) { o.generate = Generated(g.choice); },
     {"man", "bash", "zsh", "fish"}},

    // parse looks at these two before all others.
    {"-h,--help", "", "print this text", "Other", kAll, none, [](const Given&, AllOptions&) {}},
    {"-V,--version", "", "print the version", "Other", kAll, none,
     [](const Given&, AllOptions&) {}},
};

}  // namespace

std::string_view name(Command command) {
  constexpr std::string_view kNames[] = {"", "compare", "check", "mask"};
  return kNames[static_cast<int>(command)];
}

bool OptionSpec::belongs_to(Command command) const {
  return std::ranges::find(commands, command) != commands.end();
}

std::string OptionSpec::short_name() const {
  return names.size() > 2 && names[2] == ',' ? std::string(names.substr(0, 2)) : "";
}

std::string OptionSpec::long_name() const {
  return std::string(names.substr(short_name().empty() ? 0 : 3));
}

const std::vector<OptionSpec>& option_table() {
  return kTable;
}

std::vector<const OptionSpec*> options_of(Command command) {
  std::vector<const OptionSpec*> options;
  for (const OptionSpec& option : kTable)
    if (option.belongs_to(command)) options.push_back(&option);
  return options;
}

}  // namespace sdpa
