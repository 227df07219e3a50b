#include "io/members.h"

#include "catch.h"
#include "io/array_file.h"
#include "io/error_of.h"
#include "io/temporary_folder.h"

using namespace sdpa;

TEST_CASE("members: FILE#NAME is any array of a file, and the only one needs no name") {
  const std::string folder = SDPA_SOURCE_DIR "/data/forms/case/";
  for (const char* file : {"stored.npz", "case.safetensors", "case.json"})
    CHECK(read_array(folder + file + "#k").at(3) == 6);
  CHECK(error_of([&] { read_array(folder + "stored.npz"); }) ==
        folder + "stored.npz: holds 3 arrays, of which FILE#NAME names one: 'q', 'k' and 'v'");
  CHECK(error_of([&] { read_array(folder + "stored.npz#w"); }) ==
        folder + "stored.npz#w: there is no member of this name; there are 'q', 'k' and 'v'");
  CHECK(error_of([&] { read_array(SDPA_SOURCE_DIR "/data/example/q.npy#q"); }) == SDPA_SOURCE_DIR
        "/data/example/q.npy#q: has no members; a .npz or .safetensors file or a JSON object has");
}

TEST_CASE("members: many names are not all listed") {
  CHECK(listed({"a"}) == "'a'");
  CHECK(listed({"a", "b"}) == "'a' and 'b'");
  CHECK(listed({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}) ==
        "'1', '2', '3', '4', '5', '6', '7', '8' and 2 more");
}
