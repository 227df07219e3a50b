#include "io/line_reader.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <vector>

using namespace sdpa;

namespace {

std::vector<std::string> lines_of(const std::string& content) {
  const TemporaryFolder folder;
  LineReader reader(folder.file("lines", content));
  std::vector<std::string> lines;
  while (const auto line = reader.next()) lines.emplace_back(*line);
  CHECK(reader.has_line());  // there is nothing to wait for
  CHECK_FALSE(reader.next().has_value());
  return lines;
}

}  // namespace

TEST_CASE("line reader: lines end at line feeds, the last one at the end of the file") {
  using Lines = std::vector<std::string>;
  CHECK(lines_of("") == Lines{});
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("a\nb") == Lines{"a", "b"});
  CHECK(lines_of("a\n\nb\n") == Lines{"a", "", "b"});
  CHECK(lines_of(std::string("a\0b\r\n", 5)) == Lines{std::string("a\0b\r", 4)});
}

TEST_CASE("line reader: lines longer than a block") {
  std::string content;
  std::vector<std::string> lines;
  for (const int size : {65535, 65536, 65537, 1, 0, 300'000, 131'072}) {
    lines.emplace_back(static_cast<std::size_t>(size), static_cast<char>('a' + size % 7));
    content += lines.back() + "\n";
  }
  CHECK(lines_of(content) == lines);
}

TEST_CASE("line reader: what cannot be read is named") {
  CHECK(error_of([] { LineReader("/absent/file"); }) == "/absent/file: No such file or directory");
  CHECK(error_of([] { LineReader("/"); }) == "/: Is a directory");
}
