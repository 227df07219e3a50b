// What happens to output files when the system fails or the process is ended.
#include "catch.h"
#include "io/child.h"
#include "io/error_of.h"
#include "io/output_file.h"
#include "io/temporary_folder.h"

#include <sys/mount.h>
#include <sys/stat.h>

#include <csignal>

using namespace sdpa;

namespace {

/// A child opens an output over `path`, writes half of it, and then gets the signal.
int status_when_ended_by(int signal_number, const std::string& path) {
  return status_of_child([&] {
    OutputFile file(path);
    file.write(std::string(100'000, 'n'));
    raise(signal_number);
  });
}

}  // namespace

TEST_CASE("output_file: a signal that ends the run removes the temporary file") {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGUSR1, SIGALRM, SIGPROF}) {
    TemporaryFolder folder;
    const int status = status_when_ended_by(signal_number, folder.file("a", "old"));
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal_number);
    CHECK(folder.names() == std::vector<std::string>{"a"});
    CHECK(folder.content("a") == "old");
  }
}

TEST_CASE("output_file: a signal that was ignored stays ignored") {
  TemporaryFolder folder;
  const int status = status_of_child([&] {
    std::signal(SIGHUP, SIG_IGN);
    OutputFile file(folder.path("a"));
    raise(SIGHUP);
    file.write("whole");
    file.commit();
  });
  CHECK(status == 0);
  CHECK(folder.content("a") == "whole");
}

TEST_CASE("output_file: SIGKILL leaves the old file or the new one, whole") {
  TemporaryFolder folder;
  const std::string path = folder.file("a", "old");
  CHECK(WTERMSIG(status_when_ended_by(SIGKILL, path)) == SIGKILL);
  CHECK(folder.content("a") == "old");

  // At any moment: a child writes the file again and again until it is killed.
  const std::string whole(300'000, 'w');
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0)
      for (;;) {
        OutputFile file(path);
        file.write(whole);
        file.commit();
      }
    usleep(static_cast<useconds_t>(1000 + 500 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string content = folder.content("a");
    CHECK((content == whole || content == "old"));
  }
}

TEST_CASE("output_file: a full disk is reported and the old file stays", "[.mount]") {
  TemporaryFolder folder;
  const std::string disk = folder.path("disk");
  std::filesystem::create_directory(disk);
  REQUIRE(mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=64k") == 0);
  folder.file("disk/a", "old");
  const std::string message = error_of([&] {
    OutputFile file(disk + "/a");
    file.write(std::string(200'000, 'n'));
    file.commit();
  });
  const std::string content = folder.content("disk/a");
  const auto left = std::distance(std::filesystem::directory_iterator(disk), {});
  umount(disk.c_str());
  CHECK(message == disk + "/a: No space left on device");
  CHECK(content == "old");
  CHECK(left == 1);
}

TEST_CASE("output_file: permissions that forbid are reported, to an ordinary user") {
  TemporaryFolder folder;
  const std::string secret = folder.file("secret", "x");
  const std::string read_only = folder.file("read_only", "x");
  std::filesystem::create_directory(folder.path("closed"));
  std::filesystem::create_directory(folder.path("open"));
  const std::string kept = folder.file("open/kept", "x");
  REQUIRE(chmod(secret.c_str(), 0) == 0);
  REQUIRE(chmod(kept.c_str(), 0444) == 0);
  REQUIRE(chmod(folder.path("closed").c_str(), 0555) == 0);
  REQUIRE(chmod(folder.path("open").c_str(), 0777) == 0);
  REQUIRE(chmod(folder.path("").c_str(), 0755) == 0);

  const int status = status_of_child([&] {
    drop_root();
    const auto output_error = [](const std::string& path) {
      return error_of([&] { OutputFile file(path); });
    };
    const bool as_expected =
        error_of([&] { read_file(secret); }) == secret + ": Permission denied" &&
        output_error(kept) == kept + ": Permission denied" &&
        output_error(folder.path("closed/a")) ==
            folder.path("closed/a") + ": cannot make a file in its folder: Permission denied";
    _exit(as_expected ? 7 : 8);
  });
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("output_file: what cannot be put in its place at the end is kept, complete and named") {
  TemporaryFolder folder;
  const std::string path = folder.path("a");
  const std::string message = error_of([&] {
    OutputFile file(path);
    file.write("complete");
    std::filesystem::create_directories(folder.path("a/b"));
    file.commit();
  });
  const std::string before = path +
                             ": cannot be replaced (Is a directory) or overwritten (Is a "
                             "directory); the complete output is in ";
  REQUIRE(message.starts_with(before));
  CHECK(folder.content(message.substr(before.size() + folder.path("").size())) == "complete");
}

TEST_CASE("output_file: a file that turns out to be mounted is overwritten, and that is noted",
          "[.mount]") {
  TemporaryFolder folder;
  const std::string path = folder.file("a", "old");
  const std::string there = folder.file("there", "old, and longer");
  OutputFile file(path);
  file.write("new");
  REQUIRE(mount(there.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) == 0);
  file.commit();
  const std::string content = folder.content("a");
  umount(path.c_str());
  CHECK(content == "new");
  CHECK(folder.content("there") == "new");
  CHECK(file.note() ==
        path + ": could not be replaced (Device or resource busy), so it was overwritten in place");
  CHECK(folder.names().size() == 2);
}
