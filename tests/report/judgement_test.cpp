#include "report/judgement.h"

#include "catch.h"
#include "report/arrays.h"

#include <cmath>

using namespace sdpa;

namespace {

const double kNan = std::nan("");

/// One value against the right one and what is allowed.
Judgement judge_value(double actual, double exact, double reference, double allowed,
                      Dtype dtype = Dtype::float32) {
  Judge judge(Shape({1, 1}));
  judge.add_rows(array_of({actual}, {1, 1}, dtype), {{exact}, {reference}},
                 std::vector<double>{allowed});
  return judge.judgement();
}

}  // namespace

TEST_CASE("judgement: an error of exactly what is allowed is allowed") {
  CHECK(judge_value(1.25, 1, 1, 0.25, Dtype::float16).outside == 0);
  CHECK(judge_value(1.25, 1, 1, 0.25, Dtype::float16).worst_multiple == 1);
  CHECK(judge_value(1.25, 1, 1, 0.24, Dtype::float16).outside == 1);
  CHECK(judge_value(0.75, 1, 1, 0.24, Dtype::float16).outside == 1);
}

TEST_CASE("judgement: the error counts from the value before it was rounded") {
  // In bfloat16 the neighbours of 1.00375 are 1 and 1.0078125.
  const double reference = 1.00375;
  CHECK(judge_value(1.0078125, 1, reference, 0.0041, Dtype::bfloat16).outside == 0);
  CHECK(judge_value(1.0078125, 1, reference, 0.0040, Dtype::bfloat16).outside == 1);
}

TEST_CASE(
    "judgement: where nothing finer is known, the rounding of the right value is allowed too") {
  CHECK(judge_value(1 + 0x1p-52, 1, 1, 0x1p-53, Dtype::float64).outside == 0);
  CHECK(judge_value(1 + 0x1p-51, 1, 1, 0x1p-53, Dtype::float64).outside == 1);
  CHECK(judge_value(1 + 0x1p-23, 1, 1, 0x1p-24).outside == 0);
  CHECK(judge_value(1 + 0x1p-22, 1, 1, 0x1p-24).outside == 1);
}

TEST_CASE("judgement: a value that is right is within a bound that underflows") {
  CHECK(judge_value(0, 0, 0, 0, Dtype::float64).outside == 0);
  CHECK(judge_value(0, 0, 0, 0, Dtype::float64).worst_multiple == 0);
  CHECK(judge_value(0x1p-1074, 0, 0, 0, Dtype::float64).outside == 1);
}

TEST_CASE("judgement: a NaN is right where the right value is one, and nowhere else") {
  CHECK(judge_value(kNan, kNan, kNan, HUGE_VAL).outside == 0);
  CHECK(judge_value(kNan, kNan, kNan, HUGE_VAL).exactly_right == 1);
  CHECK(judge_value(0, kNan, kNan, HUGE_VAL).outside == 1);
  CHECK(judge_value(kNan, 1, 1, 0.5).outside == 1);
  CHECK(judge_value(kNan, 1, 1, HUGE_VAL).outside == 1);
}

TEST_CASE("judgement: an infinity is right where the right value is the same one") {
  CHECK(judge_value(HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL).outside == 0);
  CHECK(judge_value(-HUGE_VAL, HUGE_VAL, HUGE_VAL, HUGE_VAL).outside == 1);
  CHECK(judge_value(3, HUGE_VAL, HUGE_VAL, HUGE_VAL).outside == 1);
  CHECK(judge_value(HUGE_VAL, 1, 1, 0.5).outside == 1);
}

TEST_CASE("judgement: near the end of a type's range an honest kernel may overflow") {
  CHECK(judge_value(HUGE_VAL, 65504, 65510, 20, Dtype::float16).outside == 0);
  CHECK(judge_value(-HUGE_VAL, 65504, 65510, 20, Dtype::float16).outside == 1);
  CHECK(judge_value(HUGE_VAL, 65504, 65510, 5, Dtype::float16).outside == 1);
}

TEST_CASE("judgement: a number without a bound is not judged") {
  const Judgement judgement = judge_value(5, 1, 1, HUGE_VAL);
  CHECK(judgement.outside == 0);
  CHECK(judgement.unbounded == 1);
  CHECK(judgement.worst == -1);
}

TEST_CASE("judgement: what is NaN as it must be is right, and no reason to trust the rest") {
  CHECK(judge_value(kNan, kNan, kNan, HUGE_VAL).judged == 0);
  CHECK(judge_value(0, kNan, kNan, HUGE_VAL).judged == 1);
  CHECK(judge_value(5, 1, 1, HUGE_VAL).judged == 0);
  CHECK(judge_value(1, 1, 1, 0.5).judged == 1);
}

TEST_CASE("judgement: rows follow each other in one output") {
  Judge judge(Shape({2, 1, 2}));
  const RightValues right{{1, 2}, {1, 2}};
  const std::vector<double> allowed{0.5, 0.5};
  judge.add_rows(array_of({1, 2}, {1, 2}, Dtype::float16), right, allowed);
  judge.add_rows(array_of({1.25, 3}, {1, 2}, Dtype::float16), right, allowed);
  CHECK(judge.judgement().count == 4);
  CHECK(judge.judgement().exactly_right == 2);
  CHECK(judge.judgement().outside == 1);
  CHECK(judge.judgement().worst == 3);
  CHECK(judge.judgement().worst_multiple == 2);
  CHECK(judge.judgement().worst_allowed == 0.5);
}
