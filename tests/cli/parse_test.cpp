#include "base/parallel.h"
#include "catch.h"
#include "cli/option_table.h"

using namespace sdpa;

namespace {

AttendOptions attend(std::vector<std::string> words) {
  return std::get<AttendOptions>(parse(std::move(words)));
}

}  // namespace

TEST_CASE("parse: what is not given has its default") {
  const AttendOptions options = attend({"-q", "a", "-k", "b", "-v", "c"});
  CHECK(options.problem.q == "a");
  CHECK(options.problem.k == std::vector<std::string>{"b"});
  CHECK(options.problem.v == std::vector<std::string>{"c"});
  CHECK(!options.problem.case_file);
  CHECK(options.output == "-");
  CHECK(!options.weights);
  CHECK(options.settings.precision == Precision::exact);
  CHECK(!options.settings.dtype);
  CHECK(!options.settings.weights);
  CHECK(options.progress == ShowProgress::automatic);
  CHECK(options.settings.threads == available_processors());
}

TEST_CASE("parse: all that can be given, behind a case file") {
  const AttendOptions options =
      attend({"case.npz", "--output", "o.npy", "--weights=w.npy", "--dtype", "f16", "--precision",
              "float32", "--threads", "3", "--progress", "never"});
  CHECK(options.problem.case_file == "case.npz");
  CHECK(options.problem.q.empty());
  CHECK(options.output == "o.npy");
  CHECK(options.weights == "w.npy");
  CHECK(options.settings.dtype == Dtype::float16);
  CHECK(options.settings.precision == Precision::float32);
  CHECK(options.settings.weights);
  CHECK(options.settings.threads == 3);
  CHECK(options.progress == ShowProgress::never);
}

TEST_CASE("parse: help and version are text, also beside work") {
  CHECK(std::get<ShowOptions>(parse({"--version"})).text.starts_with("sdpa 0.1.0 ("));
  CHECK(std::get<ShowOptions>(parse({"check", "-V"})).text.starts_with("sdpa 0.1.0 ("));
  const std::string help = std::get<ShowOptions>(parse({"case.json", "--help"})).text;
  CHECK(help.starts_with("Usage: sdpa "));
}

TEST_CASE("parse: the help of a command names each of its options, and no other") {
  for (const Command command : {Command::attend, Command::compare, Command::check}) {
    const std::string help =
        std::get<ShowOptions>(parse({std::string(name(command)), "--help"})).text;
    for (const OptionSpec& option : option_table()) {
      if (option.is_positional()) continue;
      CAPTURE(name(command), option.names);
      const bool is_named = help.find(option.long_name() + " ") != help.npos;
      CHECK(is_named == option.belongs_to(command));
    }
  }
}

TEST_CASE("parse: what defines the problem is the same for check as for the main job") {
  const std::vector<std::string> operands = {"-q", "a", "--key", "b", "-v", "-:f32:1x1"};
  std::vector<std::string> words = {"check", "out.npy", "--threads", "2", "--json"};
  words.insert(words.end(), operands.begin(), operands.end());
  const auto options = std::get<CheckOptions>(parse(words));
  CHECK(options.actual == "out.npy");
  CHECK(options.problem.q == "a");
  CHECK(options.problem.k == std::vector<std::string>{"b"});
  CHECK(options.problem.v == std::vector<std::string>{"-:f32:1x1"});
  CHECK(options.threads == 2);
  CHECK(options.json);
}

TEST_CASE("parse: standard input by position, with a type or a name behind it") {
  CHECK(attend({"-"}).problem.case_file == "-");
  CHECK(attend({"-:float32:5x3"}).problem.case_file == "-:float32:5x3");
  const auto compared = std::get<CompareOptions>(parse({"compare", "a.npy", "-#o", "--json"}));
  CHECK(compared.actual == "a.npy");
  CHECK(compared.expected == "-#o");
  const auto checked =
      std::get<CheckOptions>(parse({"check", "-q", "a", "-:f64:5x3", "-k", "b", "-v", "c"}));
  CHECK(checked.actual == "-:f64:5x3");
}

TEST_CASE("parse: words behind -- are no options") {
  CHECK(attend({"--", "-q"}).problem.case_file == "-q");
  CHECK(attend({"--", "--"}).problem.case_file == "--");
}

TEST_CASE("parse: values may look like options") {
  const AttendOptions options = attend({"-q", "-:float32:2x2", "-k", "-x", "-v", "--value="});
  CHECK(options.problem.q == "-:float32:2x2");
  CHECK(options.problem.k == std::vector<std::string>{"-x"});
  CHECK(options.problem.v == std::vector<std::string>{"--value="});
  CHECK(attend({"a.npz", "-o", "--threads=1"}).output == "--threads=1");
  CHECK(attend({"a.npz", "-o", "--"}).output == "--");
}

TEST_CASE("parse: a precision may be named as a type is") {
  CHECK(attend({"a.npz", "--precision", "fp32"}).settings.precision == Precision::float32);
  CHECK(attend({"a.npz", "--precision", "double"}).settings.precision == Precision::float64);
}
