#include "array/float_format.h"
#include "report/suspects.h"

#include <cmath>
#include <cstdio>
#include <numbers>

namespace sdpa {

namespace {

/// To 10 bits behind the first, to nearest, or cut.
double to_tf32(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::ldexp(1.0, std::ilogb(value) - 10);
  return std::nearbyint(value / unit) * unit;
}
double cut_to_tf32(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::ldexp(1.0, std::ilogb(value) - 10);
  return std::trunc(value / unit) * unit;
}
double to_bfloat16(double value) {
  return from_bits(bits_of(value, Dtype::bfloat16), Dtype::bfloat16);
}
double to_float16(double value) {
  return from_bits(bits_of(value, Dtype::float16), Dtype::float16);
}

void add_scales(const JudgedOutput& judged, std::vector<Suspect>& list) {
  const auto d = static_cast<double>(judged.problem.n.d_k), right = judged.scale;
  const auto H = static_cast<double>(judged.problem.q.heads());
  const auto add = [&](double scale, const std::string& about) {
    if (scale != right) list.push_back(scale_suspect(scale, about));
  };
  add(1, "no scale");
  add(1 / std::sqrt(d), "1/sqrt(d_k)");
  add(1 / d, "1/d_k");
  add(right * std::numbers::log2e, "log2(e) times the right one");
  add(right / std::numbers::log2e, "ln(2) times the right one");
  add(right * right, "applied twice");
  add(std::sqrt(right), "the square root of the right one, applied to only one of q and k");
  add(std::sqrt(d), "sqrt(d_k)");
  for (const Index multiple : {8, 16, 32, 64, 128, 256}) {
    const Index padded = (judged.problem.n.d_k + multiple - 1) / multiple * multiple;
    add(1 / std::sqrt(static_cast<double>(padded)),
        "1/sqrt(" + std::to_string(padded) + "), of a padded d_k");
  }
  add(1 / std::sqrt(d * H), "1/sqrt(" + number_text(d * H) + "), of all heads together");
  add(1 / std::sqrt(static_cast<double>(judged.problem.n.d_v)), "1/sqrt(d_v)");
  add(1 / std::sqrt(static_cast<double>(judged.problem.n.T_k)), "1/sqrt(T_k)");
  add(-right, "the wrong sign");
  add(0, "all scores equal: the mean of v");
}

void add_bias(std::vector<Suspect>& list, double scale) {
  KernelVariant none, no_numbers;
  none.sight = [](Visible& visible, const Extents&) { visible.bias.reset(); };
  no_numbers.bias_factor = 0;
  list.push_back({"bias-missing", {}, "the bias is not added", none});
  list.push_back({"bias-missing", {}, "the bias is not added", no_numbers});
  KernelVariant scaled;
  scaled.bias_factor = scale;
  list.push_back({"bias-scaled", {}, "the bias is added before the scores are scaled", scaled});
  for (const double factor : {-1.0, 2.0, 0.5, 1 / scale, std::numbers::ln2, std::numbers::log2e}) {
    KernelVariant other;
    other.bias_factor = factor;
    list.push_back(
        {"bias-factor", factor, "the bias counts " + number_text(factor) + " times", other, 3});
  }
}

void add_sinks(std::vector<Suspect>& list, double scale) {
  KernelVariant missing, scaled, shifted;
  missing.sink_count = 0;
  scaled.sink_factor = scale;
  shifted.sink_after_maximum = true;
  list.push_back({"sink-missing", {}, "no sink in the sum", missing});
  list.push_back({"sink-scaled", {}, "the sink is scaled as a score is", scaled});
  list.push_back({"sink-unshifted",
                  {},
                  "the maximum is taken from the scores, but not from the sink",
                  shifted});
  for (Index count = 2; count <= 64; ++count) {
    KernelVariant often;
    often.sink_count = static_cast<double>(count);
    list.push_back(
        {"sink-counted", count, "the sink counts " + std::to_string(count) + " times", often, 6});
  }
}

void add_arithmetic(std::vector<Suspect>& list) {
  struct Rounding {
    const char* name;
    double (*round)(double);
    double roundoff;
  };
  for (const Rounding& rounding :
       {Rounding{"tf32", to_tf32, 0x1p-11}, Rounding{"tf32", cut_to_tf32, 0x1p-10},
        Rounding{"bfloat16", to_bfloat16, 0x1p-9}, Rounding{"float16", to_float16, 0x1p-11}}) {
    KernelVariant first, both;
    first.rounding = both.rounding = rounding.round;
    both.rounds_v = true;
    both.weight_roundoff = rounding.roundoff;
    const std::string words = std::string(" rounded to ") + rounding.name;
    list.push_back({"arithmetic", rounding.name,
                    "q and k are" + words + " for the first product, which is no fault if meant",
                    first, 3});
    list.push_back({"arithmetic", rounding.name,
                    "operands of both products are" + words + ", which is no fault if meant", both,
                    3});
  }
}

}  // namespace

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.8g", value);
  return text;
}

Suspect scale_suspect(double scale, const std::string& about) {
  KernelVariant variant;
  variant.scale = scale;
  return {"scale", scale,
          "the scale is " + number_text(scale) + (about.empty() ? "" : " (" + about + ")"), variant,
          5};
}

std::vector<Suspect> suspects_of_scores(const JudgedOutput& judged) {
  std::vector<Suspect> list;
  add_scales(judged, list);
  if (judged.mask.of_head(0).bias) add_bias(list, judged.scale);
  if (judged.sink) add_sinks(list, judged.scale);
  if (judged.softcap != 0) {
    KernelVariant missing, late;
    missing.capped = false;
    late.cap_after_bias = true;
    list.push_back({"softcap-missing", {}, "the scores are not capped", missing});
    list.push_back({"softcap-after-bias", {}, "the cap comes after the bias", late});
  }
  add_arithmetic(list);
  return list;
}

}  // namespace sdpa
