// Outputs that other programs wrote must be within the bound of the arithmetic they used.

#include "catch.h"
#include "io/array_file.h"
#include "report/arrays.h"
#include "report/wrong_kernels.h"

#include <string>

using namespace sdpa;

namespace {

const std::string kExample = SDPA_SOURCE_DIR "/data/example/sentence/";

/// Vectors that are not part of the source.
const std::string kVectors = SDPA_VECTORS "/";

constexpr Arithmetic kFloat32{Dtype::float32, Dtype::float32, Dtype::float32};

kernels::OneHead problem(const Array& q, const Array& k, const Array& v) {
  const auto values = [](const Array& array) {
    std::vector<double> all(static_cast<std::size_t>(array.shape().element_count()));
    read_elements(array, 0, array.shape().element_count(), all.data());
    return all;
  };
  const auto extent = [](const Array& array, Index axis) {
    return static_cast<int>(array.shape()[axis]);
  };
  return {extent(q, 0), extent(k, 0), extent(q, 1), extent(v, 1), values(q), values(k), values(v)};
}

/// Judges the output of one folder (..., T, d) head by head, and each of its heads alone; returns
/// how many values it has.
Index check_folder(const std::string& folder, const char* output, const Arithmetic& arithmetic,
                   bool all_wrong_kernels_fail) {
  INFO(folder);
  const Array q = read_array(folder + "q.npy"), k = read_array(folder + "k.npy"),
              v = read_array(folder + "v.npy"), actual = read_array(folder + output);
  REQUIRE(actual.dtype() == arithmetic.output);
  Index heads = 1;
  for (Index axis = 0; axis + 2 < q.shape().rank(); ++axis) heads *= q.shape()[axis];

  Judge whole(actual.shape());
  for (Index head = 0; head < heads; ++head) {
    INFO("head " << head);
    const kernels::OneHead p = problem(q.matrix(head), k.matrix(head), v.matrix(head));
    const KernelBound bound = bound_of(p, q.dtype(), arithmetic);
    RightValues right{right_values(p), right_values(p)};
    for (double& value : right.rounded) value = rounded(value, arithmetic.output);
    const std::vector<double> allowed = allowed_of(bound, right.rounded);
    whole.add_rows(actual.matrix(head), right, allowed);

    Judge alone(actual.matrix(head).shape());
    alone.add_rows(actual.matrix(head), right, allowed);
    CHECK(alone.judgement().outside == 0);
    CHECK(alone.judgement().unbounded == 0);
    if (!all_wrong_kernels_fail) continue;
    WrongKernels wrong;
    wrong.try_on(bound.close_look(), arithmetic, 1);
    for (const WrongKernel& kernel : wrong.kernels()) {
      INFO(kernel.name);
      // No score is so large; and there is no mask.
      if (kernel.name == "without a maximum")
        CHECK(kernel.fate == WrongKernelFate::right);
      else if (kernel.fate != WrongKernelFate::absent)
        CHECK(kernel.fate == WrongKernelFate::rejected);
    }
  }
  CHECK(whole.judgement().outside == 0);
  CHECK(whole.judgement().count == actual.shape().element_count());
  return whole.judgement().count;
}

}  // namespace

TEST_CASE("vectors: the outputs of a trained transformer are within the bound of float32") {
  CHECK(check_folder(kExample + "layer0/", "peer_output.npy", kFloat32, true) == 4 * 13 * 64);
  CHECK(check_folder(kExample + "layer1/", "peer_output.npy", kFloat32, true) == 4 * 13 * 128);
  CHECK(check_folder(kExample + "layer1_head0/", "peer_output.npy", kFloat32, true) == 13 * 128);
}

TEST_CASE("vectors: all its texts without padding", "[.vectors.real]") {
  for (const char* name : {"tiny/layer0/", "tiny/layer1/", "tiny/layer1_head0/", "sentence/layer0/",
                           "sentence/layer1/", "paragraph/layer0/", "paragraph/layer1/",
                           "batch/layer0/item2/", "batch/layer1/item2/"})
    CHECK(check_folder(kVectors + "real/" + name, "peer_output.npy", kFloat32, true) > 0);
}

TEST_CASE("vectors: plain cases of the ONNX standard", "[.vectors.onnx]") {
  constexpr Arithmetic kFloat16{Dtype::float32, Dtype::float16, Dtype::float16};
  for (const char* name :
       {"attention_4d/", "attention_4d_diff_heads_sizes/", "attention_4d_with_qk_matmul/",
        "flexattention/", "flexattention_diff_head_sizes/"})
    CHECK(check_folder(kVectors + "onnx/" + name, "expected.npy", kFloat32, false) > 0);
  for (const char* name : {"attention_4d_fp16/", "flexattention_fp16/"})
    CHECK(check_folder(kVectors + "onnx/" + name, "expected.npy", kFloat16, false) > 0);
}
