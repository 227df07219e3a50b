#include "io/output_file.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/file.h"
#include "io/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

using namespace sdpa;

namespace {

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

TEST_CASE("output_file: an output appears only by commit") {
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

TEST_CASE("output_file: small and large pieces keep their order") {
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

TEST_CASE(
    "output_file: a new output has the permissions of the umask, a replaced one keeps its own") {
  TemporaryFolder folder;
  const mode_t before = umask(027);
  write_file(folder.path("new"), "x");
  umask(before);
  CHECK((mode_of(folder.path("new")) & 0777) == 0640);
  REQUIRE(chmod(folder.path("new").c_str(), 0604) == 0);
  write_file(folder.path("new"), "y");
  CHECK((mode_of(folder.path("new")) & 0777) == 0604);
}

TEST_CASE("output_file: a symbolic link stays and what it points to is replaced") {
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

TEST_CASE("output_file: an output that cannot be made is refused before anything is written") {
  TemporaryFolder folder;
  CHECK(error_of([&] { OutputFile file(folder.path("")); }) ==
        folder.path("") + ": Is a directory");
  CHECK(error_of([&] { OutputFile file(folder.path("no/a")); }) ==
        folder.path("no/a") + ": No such file or directory");
  folder.file("a", "");
  CHECK(error_of([&] { OutputFile file(folder.path("a/b")); }) ==
        folder.path("a/b") + ": Not a directory");
}

TEST_CASE("output_file: pipes and devices are written directly") {
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

TEST_CASE("output_file: a full device is an error at the commit, or before") {
  CHECK(error_of([] { write_file("/dev/full", "x"); }) == "/dev/full: No space left on device");
  CHECK(error_of([] { write_file("/dev/full", std::string(100'000, 'x')); }) ==
        "/dev/full: No space left on device");
}

TEST_CASE("output_file: an open descriptor is written where it stands") {
  TemporaryFolder folder;
  const int descriptor = open(folder.file("a", "first ").c_str(), O_WRONLY | O_APPEND);
  REQUIRE(descriptor >= 0);
  write_file("/dev/fd/" + std::to_string(descriptor), "second");
  close(descriptor);
  CHECK(folder.content("a") == "first second");
  CHECK(error_of([] { OutputFile file("/dev/fd/999"); }) == "/dev/fd/999: Bad file descriptor");
}

TEST_CASE("output_file: a descriptor that cannot be written is refused at once") {
  TemporaryFolder folder;
  const int descriptor = open(folder.file("a", "x").c_str(), O_RDONLY);
  const std::string path = "/dev/fd/" + std::to_string(descriptor);
  CHECK(error_of([&] { OutputFile file(path); }) == path + ": is open for reading only");
  close(descriptor);
}

TEST_CASE("output_file: a descriptor of a mapped input is refused unless it writes behind it") {
  TemporaryFolder folder;
  const std::string path = folder.file("a", "input");
  const auto error_at = [&](int flags, off_t position) {
    const int descriptor = open(path.c_str(), flags);
    lseek(descriptor, position, SEEK_SET);
    const std::string name = "/dev/fd/" + std::to_string(descriptor);
    const std::string message = error_of([&] { OutputFile file(name); });
    close(descriptor);
    return message.empty() ? message : message.substr(name.size());
  };
  {
    const FileBytes input = read_file(path);
    const std::string refused =
        ": is the same file as " + path + ", which would be overwritten while it is read";
    CHECK(error_at(O_RDWR, 0) == refused);
    CHECK(error_at(O_WRONLY, 4) == refused);
    CHECK(error_at(O_WRONLY, 5).empty());
    CHECK(error_at(O_WRONLY | O_APPEND, 0).empty());
  }
  CHECK(error_at(O_WRONLY, 0).empty());
}
