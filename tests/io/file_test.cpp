#include "io/file.h"

#include "catch.h"
#include "io/child.h"
#include "io/error_of.h"
#include "io/output_file.h"
#include "io/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <thread>

using namespace sdpa;

namespace {

std::string text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

}  // namespace

TEST_CASE("file: a regular file is read whole, an empty one too") {
  TemporaryFolder folder;
  CHECK(text_of(read_file(folder.file("a", "abc"))) == "abc");
  CHECK(text_of(read_file(folder.file("empty", ""))) == "");
  CHECK(text_of(read_file("/proc/self/comm")).size() > 1);  // claims to have 0 bytes
}

TEST_CASE("file: a pipe may give one byte at a time") {
  TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::string text(70'000, 'x');  // more than the first block
  text += "end";
  std::jthread writer([&] {
    const int pipe = open(path.c_str(), O_WRONLY);
    for (const char& byte : text)
      if (write(pipe, &byte, 1) != 1) break;
    close(pipe);
  });
  CHECK(text_of(read_file(path)) == text);
}

TEST_CASE("file: what cannot be read gives one line with the system's reason") {
  TemporaryFolder folder;
  const std::string path = folder.path("a");
  CHECK(error_of([&] { read_file(path); }) == path + ": No such file or directory");
  CHECK(error_of([&] { read_file(folder.path("")); }) == folder.path("") + ": Is a directory");
  CHECK(error_of([&] { read_file("/dev/null/x"); }) == "/dev/null/x: Not a directory");
}

TEST_CASE("file: with standard output closed, no other file takes its place") {
  TemporaryFolder folder;
  const std::string input = folder.file("a", "input");
  const int status = status_of_child([&] {
    close(0);
    close(1);
    const FileBytes file = read_file(input);
    OutputFile output(folder.path("b"));
    const bool refused =
        error_of([] { OutputFile standard("-"); }) == "standard output: Bad file descriptor";
    _exit(refused && error_of([] { read_file("-"); }) == "standard input: Bad file descriptor" ? 7
                                                                                               : 8);
  });
  CHECK(WEXITSTATUS(status) == 7);
}
