#include "io/fitting.h"

#include "catch.h"

using namespace sdpa;

TEST_CASE("fitting: shapes near by that hold another number of elements") {
  using Words = std::vector<std::string>;
  CHECK(fitting_shapes(12, Shape({2, 3})) == Words{"as 4x3", "as 2x6", "as 2x2x3"});
  CHECK(fitting_shapes(7, Shape({2, 3})).empty());
  CHECK(fitting_shapes(3, Shape({2})) == Words{"as 3"});
  CHECK(fitting_shapes(24, Shape({2, 2, 3})) ==
        Words{"as 4x2x3", "as 2x4x3", "as 2x2x6", "as 2x2x2x3"});
  CHECK(fitting_shapes(4, Shape({2, 0})).empty());
  CHECK(proposal_text({}).empty());
  CHECK(proposal_text({"as 3"}) == "; they would fit as 3");
}
