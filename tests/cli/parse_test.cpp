#include "base/parallel.h"
#include "catch.h"
#include "cli/options.h"

using namespace sdpa;

namespace {

AttendOptions attend(std::vector<std::string> words) {
  return std::get<AttendOptions>(parse(std::move(words)));
}

}  // namespace

TEST_CASE("parse: what is not given has its default") {
  const AttendOptions options = attend({"-q", "a", "-k", "b", "-v", "c"});
  CHECK(options.q == "a");
  CHECK(options.k == "b");
  CHECK(options.v == "c");
  CHECK(!options.case_file);
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
  CHECK(options.case_file == "case.npz");
  CHECK(options.q.empty());
  CHECK(options.output == "o.npy");
  CHECK(options.weights == "w.npy");
  CHECK(options.settings.dtype == Dtype::float16);
  CHECK(options.settings.precision == Precision::float32);
  CHECK(options.settings.weights);
  CHECK(options.settings.threads == 3);
  CHECK(options.progress == ShowProgress::never);
}

TEST_CASE("parse: the word behind an option is its value, whatever it looks like") {
  const AttendOptions options = attend({"-q", "-:float32:2x2", "-k", "--dtype", "-v", "-o"});
  CHECK(options.q == "-:float32:2x2");
  CHECK(options.k == "--dtype");
  CHECK(options.v == "-o");
}

TEST_CASE("parse: help and version are text, also beside work") {
  CHECK(std::get<ShowOptions>(parse({"--version"})).text.starts_with("sdpa 0.1.0 ("));
  const std::string help = std::get<ShowOptions>(parse({"case.json", "--help"})).text;
  CHECK(help.starts_with("Usage: sdpa "));
  for (const char* option : {"--query", "--key", "--value", "--output", "--weights", "--dtype",
                             "--precision", "--threads", "--progress", "--help", "--version"})
    CHECK(help.find(option) != std::string::npos);
}
