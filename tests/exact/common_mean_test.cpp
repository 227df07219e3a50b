#include "exact/common_mean.h"

#include "catch.h"
#include "oracle/matrix.h"

#include <cmath>
#include <vector>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

std::optional<double> mean(std::vector<double> values, std::vector<KeyGroup> groups,
                           Dtype dtype = Dtype::float64, std::vector<Index> order = {}) {
  if (order.empty())
    for (Index j = 0; j < std::ssize(values); ++j) order.push_back(j);
  return common_mean(values, order, groups, dtype);
}

/// The keys of each group.
std::vector<std::vector<Index>> groups_of(const std::vector<double>& k, Index d_k,
                                          bool is_zero_query = false) {
  const Array keys = matrix(std::ssize(k) / d_k, d_k, k, Dtype::float64);
  const EqualRows equal(keys, is_zero_query);
  std::vector<std::vector<Index>> groups;
  for (const KeyGroup& group : equal.groups())
    groups.emplace_back(equal.order().begin() + group.begin, equal.order().begin() + group.end);
  std::ranges::sort(groups);
  return groups;
}

}  // namespace

TEST_CASE("common_mean: that of all groups, if it is the same", "[common_mean]") {
  CHECK(mean({1, 5, 3}, {{0, 2}, {2, 3}}) == 3);
  CHECK(mean({1, 5, 3, 0, 4, 5}, {{0, 2}, {2, 3}, {3, 6}}) == 3);
  CHECK(mean({1, 3, 5}, {{0, 2}, {2, 3}}, Dtype::float64, {0, 2, 1}) == 3);
  CHECK(mean({1, -1, 0, 0}, {{0, 2}, {2, 4}}) == 0);
  CHECK(mean({1, 0, 0, 1, 0, 0}, {{0, 3}, {3, 6}}) == 1.0 / 3);
  CHECK_FALSE(std::signbit(*mean({-0.0, -0.0}, {{0, 1}, {1, 2}})));
}

TEST_CASE("common_mean: groups whose means differ by ever so little have none", "[common_mean]") {
  CHECK_FALSE(mean({1, 5, 3 + 0x1p-51}, {{0, 2}, {2, 3}}));
  CHECK_FALSE(mean({1, 0x1p-100, 1, 0}, {{0, 2}, {2, 4}}));
  CHECK_FALSE(mean({1, 0x1p-100, 0.5}, {{0, 2}, {2, 3}}));
  CHECK_FALSE(mean({1, 5, 3, 4, 2, 3, 3.5}, {{0, 2}, {2, 3}, {3, 5}, {5, 7}}));
}

TEST_CASE("common_mean: rounded once, ties to even", "[common_mean]") {
  // Halfway between 1 and the next double, and a hair above.
  CHECK(mean({1, 1 + 0x1p-52, 1 + 0x1p-52, 1}, {{0, 2}, {2, 4}}) == 1);
  CHECK(mean({1 + 0x1p-52, 1 + 0x1p-51}, {{0, 2}}) == 1 + 0x1p-51);
  CHECK(mean({1, 1 + 0x1p-52, 0x1p-99, 1, 1}, {{0, 5}}) == 0.8);
  CHECK(mean({1, 1 + 0x1p-10}, {{0, 2}}, Dtype::float16) == 1);
  CHECK(mean({1, 1 + 0x1p-10 + 0x1p-40}, {{0, 2}}, Dtype::float16) == 1 + 0x1p-10);
  CHECK(mean({1, 1 + 0x1p-10 + 0x1p-52, 0x1p-98, 0}, {{0, 4}}, Dtype::float16) == 0.5 + 0x1p-11);
  // Below the midpoint by far less than the quotient's last bit.
  const double odd = 1 + 0x3p-11;
  CHECK(mean({2 * odd, 2 * odd, 0, 0}, {{0, 4}}, Dtype::float16) == 1 + 0x1p-9);
  CHECK(mean({2 * odd, 2 * odd, -0x1p-100, 0}, {{0, 4}}, Dtype::float16) == 1 + 0x1p-10);
}

TEST_CASE("common_mean: what doubles do not show is not claimed", "[common_mean]") {
  // The first group's mean is 0, the others' too but for a number that two doubles lose.
  CHECK_FALSE(mean({1, -1, 1, 0x1p-60, 0x1p-200, -1 - 0x1p-52}, {{0, 2}, {2, 6}}));
  CHECK_FALSE(mean({0x1p1023, 0x1p1023, 0x1p1023}, {{0, 2}, {2, 3}}));
  // Products with the counts are too small to be seen exactly.
  CHECK_FALSE(mean({0x1p-1000, 0x1p-1000, 0x1p-1000}, {{0, 2}, {2, 3}}));
}

TEST_CASE("common_mean: equal rows", "[common_mean]") {
  using Groups = std::vector<std::vector<Index>>;
  CHECK(groups_of({1, 2, 3, 4, 1, 2, 3, 5, 1, 2}, 2) == Groups{{0, 2, 4}, {1}, {3}});
  CHECK(groups_of({0, 1, -0.0, 1, 1, 0}, 2) == Groups{{0, 1}, {2}});
  CHECK(groups_of({1, 2, 2, 1}, 2) == Groups{{0}, {1}});
  CHECK(groups_of({1, 2, 2, 1}, 2, true) == Groups{{0, 1}});
}
