#include "attention/attention.h"
#include "catch.h"
#include "oracle/matrix.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

using namespace sdpa;
using namespace sdpa::oracle;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

/// NaN equals NaN here.
void check_values(const Array& got, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("element " << i << " is " << got.at(static_cast<Index>(i)) << ", expected "
                    << expected[i]);
    const double value = got.at(static_cast<Index>(i));
    CHECK((std::isnan(expected[i]) ? std::isnan(value) : value == expected[i]));
  }
}

/// Every rule holds in every precision and output type.
void check_everywhere(const Array& q, const Array& k, const Array& v,
                      const std::vector<double>& output, const std::vector<double>& weights) {
  for (Precision precision : {Precision::exact, Precision::float64, Precision::float32})
    for (Dtype dtype : {Dtype::float16, Dtype::bfloat16, Dtype::float32, Dtype::float64}) {
      INFO("precision " << static_cast<int>(precision) << ", " << name(dtype));
      const Attention result = attention(q, k, v, {precision, dtype, 1, true});
      check_values(result.output, output);
      check_values(*result.weights, weights);
    }
}

}  // namespace

TEST_CASE("not finite: a NaN in row t of q reaches row t of the results and no other") {
  check_everywhere(matrix({{0, 0}, {kNan, 0}, {0, 0}}), matrix({{1, 2}, {3, 4}}),
                   matrix({{1, 4}, {3, 8}}), {2, 6, kNan, kNan, 2, 6},
                   {0.5, 0.5, kNan, kNan, 0.5, 0.5});
}

TEST_CASE("not finite: a NaN in k reaches every row, even of zero queries") {
  check_everywhere(matrix({{0}, {1}}), matrix({{1}, {kNan}}), matrix({{1}, {3}}), {kNan, kNan},
                   {kNan, kNan, kNan, kNan});
}

TEST_CASE("not finite: a NaN reaches its row or column whatever its sign and payload") {
  // The low bits of a payload must not be taken for the exponent of a weight.
  for (std::uint64_t bits : std::initializer_list<std::uint64_t>{
           0x7ff8000000000001, 0x7ff8000000000401, 0xfff800000000abcd, 0x7ff8000020000000,
           0x7ff80000e0000000, 0xfff8123460000000}) {
    INFO("NaN " << std::hex << bits);
    Array k = matrix({{1}, {2}}), v = matrix({{1, 2}, {3, 4}});
    std::memcpy(k.mutable_data() + sizeof bits, &bits, sizeof bits);
    std::memcpy(v.mutable_data() + sizeof bits, &bits, sizeof bits);
    check_everywhere(matrix({{0}, {1}}), k, matrix({{1}, {3}}), {kNan, kNan},
                     {kNan, kNan, kNan, kNan});
    check_everywhere(matrix({{0}}), matrix({{1}, {2}}), v, {2, kNan}, {0.5, 0.5});
  }
}

TEST_CASE("not finite: a NaN in v reaches its column and no weight") {
  check_everywhere(matrix({{0}, {0}}), matrix({{1}, {2}}), matrix({{1, kNan, 5}, {3, 4, 7}}),
                   {2, kNan, 6, 2, kNan, 6}, {0.5, 0.5, 0.5, 0.5});
}

TEST_CASE("not finite: a row whose largest score is +inf is NaN") {
  check_everywhere(matrix({{kInf}}), matrix({{1}, {-1}}), matrix({{1}, {3}}), {kNan}, {kNan, kNan});
  check_everywhere(matrix({{kInf}}), matrix({{1}, {2}}), matrix({{1}, {3}}), {kNan}, {kNan, kNan});
  check_everywhere(matrix({{1}}), matrix({{kInf}, {0}}), matrix({{1}, {3}}), {kNan}, {kNan, kNan});
}

TEST_CASE("not finite: a score of -inf is weight 0 as long as the row has a finite score") {
  check_everywhere(matrix({{-1}}), matrix({{kInf}, {0}, {0}}), matrix({{9, 9}, {1, 2}, {3, 6}}),
                   {2, 4}, {0, 0.5, 0.5});
  check_everywhere(matrix({{1, 0}}), matrix({{0, 1}, {-kInf, 1}}), matrix({{5}, {9}}), {5}, {1, 0});
}

TEST_CASE("not finite: a row of nothing but -inf scores is NaN") {
  check_everywhere(matrix({{-kInf}}), matrix({{1}, {2}}), matrix({{1}, {3}}), {kNan}, {kNan, kNan});
  check_everywhere(matrix({{1}}), matrix({{-kInf}}), matrix({{1}}), {kNan}, {kNan});
}

TEST_CASE("not finite: 0 times infinity and infinity minus infinity in a score make the row NaN") {
  check_everywhere(matrix({{0}, {-1}}), matrix({{kInf}, {0}}), matrix({{1}, {3}}), {kNan, 3},
                   {kNan, kNan, 0, 1});
  check_everywhere(matrix({{1, 1}}), matrix({{kInf, -kInf}, {0, 0}}), matrix({{1}, {3}}), {kNan},
                   {kNan, kNan});
}

TEST_CASE("not finite: an infinity in v makes its column infinite, both signs make it NaN") {
  check_everywhere(matrix({{0}}), matrix({{1}, {2}}),
                   matrix({{kInf, -kInf, kInf, kInf, 1}, {1, 2, -kInf, kNan, 3}}),
                   {kInf, -kInf, kNan, kNan, 2}, {0.5, 0.5});
  check_everywhere(matrix({{0}}), matrix({{1}, {2}}), matrix({{kInf}, {kInf}}), {kInf}, {0.5, 0.5});
}

TEST_CASE("not finite: weight 0 times an infinity or a NaN in v is NaN") {
  check_everywhere(matrix({{-1}}), matrix({{kInf}, {0}}),
                   matrix({{kInf, -kInf, kNan, 1}, {1, 1, 1, 2}}), {kNan, kNan, kNan, 2}, {0, 1});
}

TEST_CASE("not finite: an exact weight is positive however small, so infinity stays infinity",
          "[exact]") {
  const Array q = matrix({{1}}), k = matrix({{0}, {-1e30}});
  for (Dtype dtype : {Dtype::float16, Dtype::float32, Dtype::float64})
    check_values(attention(q, k, matrix({{1}, {kInf}}), {Precision::exact, dtype, 1, false}).output,
                 {kInf});
}

TEST_CASE("not finite: a row beside one that is not finite keeps its exact value") {
  const Array k = matrix({{1}, {2}}), v = matrix({{1}, {3}});
  const Settings settings{Precision::exact, Dtype::float64, 1, true};
  const Attention alone = attention(matrix({{0.25}}), k, v, settings);
  const Attention beside = attention(matrix({{kNan}, {0.25}, {kInf}}), k, v, settings);
  CHECK(same_bytes(beside.output.rows(1, 1), alone.output));
  CHECK(same_bytes(beside.weights->rows(1, 1), *alone.weights));
}

TEST_CASE("not finite: a column beside one that is not finite keeps its exact value") {
  const Array q = matrix({{0.25}}), k = matrix({{1}, {2}});
  const Settings settings{Precision::exact, Dtype::float64, 1, false};
  const Array beside = attention(q, k, matrix({{kNan, 1, kInf}, {0, 3, 0}}), settings).output;
  CHECK(beside.at(1) == attention(q, k, matrix({{1}, {3}}), settings).output.at(0));
}
