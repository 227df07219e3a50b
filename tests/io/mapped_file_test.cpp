#include "io/mapped_file.h"

#include "catch.h"
#include "io/child.h"
#include "io/output_file.h"
#include "io/temporary_folder.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <filesystem>

using namespace sdpa;

namespace {

/// Reads the last byte.
void touch(const FileBytes& file) {
  const std::byte last = file.bytes.back();
  asm volatile("" : : "r"(std::to_integer<int>(last)));
}

}  // namespace

TEST_CASE("mapped file: one that is cut short ends the process with a message") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a", std::string(1'000'000, 'x'));
  const std::string message = folder.path("message");
  const std::string output = folder.file("o", "old");
  const int status = status_of_child([&] {
    const int descriptor = open(message.c_str(), O_WRONLY | O_CREAT, 0600);
    if (dup2(descriptor, STDERR_FILENO) != STDERR_FILENO) _exit(99);
    OutputFile unfinished(output);
    unfinished.write(std::string(100'000, 'n'));
    const FileBytes file = read_file(path);
    std::filesystem::resize_file(path, 10);
    touch(file);
  });
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 2);
  CHECK(folder.content("message") == "sdpa: " + path +
                                         ": had 1000000 bytes when it was opened, and has fewer "
                                         "now, or the disk failed\n");
  CHECK(folder.content("o") == "old");
  CHECK(folder.names().size() == 3);
}

TEST_CASE("mapped file: a bus error of other memory is not taken for it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a", std::string(100'000, 'x'));
  const int status = status_of_child([&] {
    const FileBytes file = read_file(folder.file("b", "whole"));
    const int descriptor = open(path.c_str(), O_RDONLY);
    void* memory = mmap(nullptr, 100'000, PROT_READ, MAP_PRIVATE, descriptor, 0);
    std::filesystem::resize_file(path, 0);
    touch({nullptr, {static_cast<const std::byte*>(memory), 100'000}});
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGBUS);
}

TEST_CASE("mapped file: any number of files can be open at once") {
  const TemporaryFolder folder;
  const std::string path = folder.file("a", "some bytes");
  std::vector<FileBytes> files;
  for (int i = 0; i < 100; ++i) files.push_back(read_file(path));
  for (const FileBytes& file : files) CHECK(file.bytes.size() == 10);
}

TEST_CASE("mapped file: the file of a mapped input is known until its last owner is gone") {
  const TemporaryFolder folder;
  struct stat status {};
  REQUIRE(stat(folder.file("a", "some bytes").c_str(), &status) == 0);
  CHECK_FALSE(mapped_input(status.st_dev, status.st_ino));
  {
    const FileBytes part = read_file(folder.path("a")).part(2, 3);
    const auto input = mapped_input(status.st_dev, status.st_ino);
    REQUIRE(input);
    CHECK(input->place == folder.path("a"));
    CHECK(input->size == 10);
  }
  CHECK_FALSE(mapped_input(status.st_dev, status.st_ino));
}
