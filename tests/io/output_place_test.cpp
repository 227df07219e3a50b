#include "io/output_place.h"

#include "catch.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

using namespace sdpa;

TEST_CASE("output_place: outputs are the same place by any name, but hard links are two places") {
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

TEST_CASE("output_place: what keeps nothing is no place where outputs meet, whatever its name") {
  TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/null", folder.path("null.npy"));
  CHECK_FALSE(is_same_output("/dev/null", "/dev/null"));
  CHECK_FALSE(is_same_output("/dev/null", folder.path("null.npy")));
  CHECK_FALSE(is_same_output("/dev/full", "/dev/full"));
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  CHECK(is_same_output(folder.path("pipe"), folder.path("./pipe")));
}

TEST_CASE("output_place: a stream is one by what it is, not by its folder") {
  TemporaryFolder folder;
  const auto is_stream = [](const std::string& path) { return output_place(path).is_stream(); };
  REQUIRE(mkfifo(folder.path("pipe").c_str(), 0600) == 0);
  for (const char* stream : {"-", "/dev/stdout", "/dev/stderr", "/dev/fd/9", "/dev/null"})
    CHECK(is_stream(stream));
  CHECK(is_stream(folder.path("pipe")));
  for (const char* other : {"/dev", "/dev/absent", "/dev/shm/absent", "/dev/fd/x"})
    CHECK_FALSE(is_stream(other));
  CHECK_FALSE(is_stream(folder.file("file", "")));
}

TEST_CASE("output_place: links to a descriptor mean what is open there") {
  TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/stdout", folder.path("out.npy"));
  std::filesystem::create_symlink("out.npy", folder.path("second.npy"));
  CHECK(output_place(folder.path("second.npy")).descriptor == 1);
  CHECK(is_same_output(folder.path("second.npy"), "-"));
}

TEST_CASE("output_place: a link of another process to a pipe is that pipe") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const auto place =
      output_place("/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(ends[1]));
  CHECK_FALSE(place.descriptor);
  CHECK(place.is_stream());
  close(ends[0]);
  close(ends[1]);
}
