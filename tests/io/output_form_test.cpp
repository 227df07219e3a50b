#include "io/output_form.h"

#include "catch.h"
#include "io/error_of.h"

using namespace sdpa;

TEST_CASE("output form: by the extension, or as is said") {
  CHECK(form_of_name("a.npz") == OutputForm::npz);
  CHECK(form_of_name("a.b/c.safetensors") == OutputForm::safetensors);
  CHECK_FALSE(form_of_name("npy").has_value());
  CHECK_FALSE(form_of_name("a.NPY").has_value());
  CHECK(output_form("o.csv", {}) == OutputForm::csv);
  CHECK(output_form("o.csv", OutputForm::csv) == OutputForm::csv);
  CHECK(output_form("o.dat", OutputForm::txt) == OutputForm::txt);
  CHECK(output_form("-", OutputForm::npy) == OutputForm::npy);
  CHECK(output_form("-", {}) == OutputForm::json);
  CHECK(error_of([] { output_form("o.csv", OutputForm::npy); }) ==
        "o.csv: its name says another form than --format npy");
  CHECK(error_of([] { output_form("out", {}); }) ==
        "out: the name of an output ends in .npy, .npz, .safetensors, .json, .csv, .txt or .bin");
}
