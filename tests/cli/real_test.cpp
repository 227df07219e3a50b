#include "array/array.h"
#include "catch.h"
#include "cli/commands.h"
#include "io/array_file.h"
#include "io/temporary_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

using namespace sdpa;

namespace {

/// The peer computed in float32, and is off by at most 1.3e-6 itself.
constexpr double kTolerance = 2e-6;

/// Folders below `root` with q, k, v and a peer's results.
std::vector<std::filesystem::path> cases_below(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::filesystem::path& path = entry.path();
    if (path.filename() == "peer_output.npy") cases.push_back(path.parent_path());
  }
  std::ranges::sort(cases);
  return cases;
}

void require_near(const Array& actual, const Array& expected) {
  REQUIRE(actual.dtype() == Dtype::float32);
  REQUIRE(actual.shape().text() == expected.shape().text());
  for (Index i = 0; i < actual.shape().element_count(); ++i) {
    CAPTURE(actual.shape().index_text(i), actual.at(i), expected.at(i));
    REQUIRE(std::fabs(actual.at(i) - expected.at(i)) <= kTolerance);
  }
}

/// The lengths of the sentences of a padded batch; item0, item1 and item2 hold one each.
const std::vector<std::string> kLengths = {"5", "11", "22"};

/// What hides the padding of a case, each by itself, or nothing where there is none: the peer's bias
/// of -1e9, the lengths, and a mask.
std::vector<MaskArguments> masks_of(const std::filesystem::path& folder) {
  if (!exists(folder / "bias.npy")) return {{}};
  std::vector<MaskArguments> masks(2);
  masks[0].bias = (folder / "bias.npy").string();
  const std::string name = folder.filename().string();
  masks[1].key_lengths = name.starts_with("item")
                             ? kLengths[static_cast<std::size_t>(name[4] - '0')]
                             : kLengths[0] + "," + kLengths[1] + "," + kLengths[2];
  if (exists(folder / "mask.npy")) masks.emplace_back().mask = (folder / "mask.npy").string();
  return masks;
}

void require_agreement(const std::filesystem::path& folder) {
  CAPTURE(folder.string());
  for (const MaskArguments& mask : masks_of(folder)) {
    const TemporaryFolder results;
    AttendOptions options;
    options.problem.q = (folder / "q.npy").string();
    options.problem.k = {(folder / "k.npy").string()};
    options.problem.v = {(folder / "v.npy").string()};
    options.problem.mask = mask;
    options.output = results.path("output.npy");
    options.weights = results.path("weights.npy");
    options.settings.weights = true;
    REQUIRE(run(options) == 0);
    require_near(read_array(options.output), read_array((folder / "peer_output.npy").string()));
    const std::string weights = (folder / "peer_weights.npy").string();
    if (std::filesystem::exists(weights))
      require_near(read_array(*options.weights), read_array(weights));
  }
}

}  // namespace

TEST_CASE("real: a sentence in a transformer comes out as the transformer had it") {
  const auto cases = cases_below(SDPA_SOURCE_DIR "/data/example/sentence");
  REQUIRE(cases.size() == 3);
  for (const auto& folder : cases) require_agreement(folder);
}

TEST_CASE("real: a padded batch of sentences comes out as the transformer had it") {
  const auto cases = cases_below(SDPA_SOURCE_DIR "/data/example/batch");
  REQUIRE(cases.size() == 1);
  for (const auto& folder : cases) require_agreement(folder);
}

TEST_CASE("real: all texts", "[.vectors.real]") {
  const auto cases = cases_below(SDPA_VECTORS "/real");
  REQUIRE(!cases.empty());
  for (const auto& folder : cases) require_agreement(folder);
}
