#include "io/file.h"

#include "catch.h"
#include "io/child.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

using namespace sdpa;

namespace {

std::string text_of(const FileBytes& file) {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(lstat(path.c_str(), &status) == 0);
  return status.st_mode;
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

TEST_CASE("file: an output appears only by commit") {
  TemporaryFolder folder;
  const std::string path = folder.file("a", "old");
  {
    OutputFile file(path);
    file.write(std::string(200'000, 'n'));
    CHECK(folder.content("a") == "old");
    CHECK(folder.names().size() == 2);
  }
  CHECK(folder.content("a") == "old");
  CHECK(folder.names() == std::vector<std::string>{"a"});
  write_file(path, "new");
  CHECK(folder.content("a") == "new");
  CHECK(folder.names() == std::vector<std::string>{"a"});
}

TEST_CASE("file: small and large pieces keep their order") {
  TemporaryFolder folder;
  std::string expected;
  {
    OutputFile file(folder.path("a"));
    for (const std::size_t size : {1u, 65'535u, 65'536u, 3u, 200'000u, 7u}) {
      const std::string piece(size, static_cast<char>('a' + size % 26));
      file.write(piece);
      expected += piece;
    }
    file.commit();
  }
  CHECK((folder.content("a") == expected));
}

TEST_CASE("file: a new output has the permissions of the umask, a replaced one keeps its own") {
  TemporaryFolder folder;
  const mode_t before = umask(027);
  write_file(folder.path("new"), "x");
  umask(before);
  CHECK((mode_of(folder.path("new")) & 0777) == 0640);
  REQUIRE(chmod(folder.path("new").c_str(), 0604) == 0);
  write_file(folder.path("new"), "y");
  CHECK((mode_of(folder.path("new")) & 0777) == 0604);
}

TEST_CASE("file: a symbolic link stays and what it points to is replaced") {
  TemporaryFolder folder;
  std::filesystem::create_directory(folder.path("there"));
  std::filesystem::create_symlink("there/a", folder.path("link"));
  std::filesystem::create_symlink("link", folder.path("second"));
  write_file(folder.path("second"), "made");  // the chain ends in a name that is still free
  CHECK(folder.content("there/a") == "made");
  write_file(folder.path("link"), "replaced");
  CHECK(folder.content("there/a") == "replaced");
  CHECK(S_ISLNK(mode_of(folder.path("link"))));

  std::filesystem::create_symlink("loop", folder.path("loop"));
  CHECK(error_of([&] { OutputFile file(folder.path("loop")); }) ==
        folder.path("loop") + ": Too many levels of symbolic links");
}

TEST_CASE("file: an output that cannot be made is refused before anything is written") {
  TemporaryFolder folder;
  CHECK(error_of([&] { OutputFile file(folder.path("")); }) ==
        folder.path("") + ": Is a directory");
  CHECK(error_of([&] { OutputFile file(folder.path("no/a")); }) ==
        folder.path("no/a") + ": No such file or directory");
  folder.file("a", "");
  CHECK(error_of([&] { OutputFile file(folder.path("a/b")); }) ==
        folder.path("a/b") + ": Not a directory");
}

TEST_CASE("file: pipes and devices are written directly") {
  TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::string received;
  {
    std::jthread reader([&] { received = folder.content("pipe"); });
    write_file(path, "through");
  }
  CHECK(received == "through");
  CHECK(S_ISFIFO(mode_of(path)));
  write_file("/dev/null", "x");
  CHECK(S_ISCHR(mode_of("/dev/null")));
}

TEST_CASE("file: a full device is an error at the commit, or before") {
  CHECK(error_of([] { write_file("/dev/full", "x"); }) == "/dev/full: No space left on device");
  CHECK(error_of([] { write_file("/dev/full", std::string(100'000, 'x')); }) ==
        "/dev/full: No space left on device");
}

TEST_CASE("file: an open descriptor is written where it stands") {
  TemporaryFolder folder;
  const int descriptor = open(folder.file("a", "first ").c_str(), O_WRONLY | O_APPEND);
  REQUIRE(descriptor >= 0);
  write_file("/dev/fd/" + std::to_string(descriptor), "second");
  close(descriptor);
  CHECK(folder.content("a") == "first second");
  CHECK(error_of([] { OutputFile file("/dev/fd/999"); }) == "/dev/fd/999: Bad file descriptor");
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

TEST_CASE("file: outputs are the same place by any name, but hard links are two places") {
  TemporaryFolder folder;
  const std::string there = folder.file("there", "x");
  const std::string absent = folder.path("absent");
  std::filesystem::create_symlink("absent", folder.path("link"));
  std::filesystem::create_hard_link(there, folder.path("hard"));
  CHECK(is_same_output(there, there));
  CHECK(is_same_output(absent, folder.path("./link")));
  CHECK_FALSE(is_same_output(there, absent));
  CHECK_FALSE(is_same_output(there, folder.path("hard")));
  CHECK(is_same_output("-", "/dev/stdout"));
  CHECK_FALSE(is_same_output("-", there));

  const int descriptor = open(there.c_str(), O_WRONLY);
  CHECK(is_same_output("/dev/fd/" + std::to_string(descriptor), there));
  CHECK_FALSE(is_same_output("/dev/fd/" + std::to_string(descriptor), absent));
  close(descriptor);
}
