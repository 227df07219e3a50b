#include "io/safetensors_header.h"

#include "base/error.h"
#include "io/decode.h"
#include "io/json_text.h"
#include "io/quote.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace sdpa {

namespace {

/// What the parser calls, by these names. Depth 1 is the header, depth 2 a tensor (or the
/// metadata), depth 3 a list of integers in a tensor.
class Handler {
 public:
  Handler(std::string_view text, std::string_view place) : text_(text), place_(place) {}

  std::vector<Tensor> take_tensors() { return std::move(tensors_); }

  bool null() { fail("null"); }
  bool boolean(bool value) { fail(value ? "true" : "false"); }
  bool binary(nlohmann::json::binary_t&) { fail("binary data"); }
  bool number_integer(std::int64_t value) { fail(std::to_string(value)); }
  bool number_float(double, const std::string& text) { fail(in_quotes(text)); }

  bool number_unsigned(std::uint64_t value) {
    if (depth_ != 3 || value > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      fail(std::to_string(value));
    if (list_.size() == kMostAxes)
      throw Error(place_, tensor_text() + " has a list of more than " + std::to_string(kMostAxes) +
                              " numbers");
    list_.push_back(static_cast<Index>(value));
    return true;
  }

  bool string(std::string& value) {
    if (in_metadata_ && depth_ == 2) return true;
    if (in_metadata_ || depth_ != 2 || field_ != "dtype") fail("the text " + in_quotes(value));
    tensors_.back().dtype = value;
    return true;
  }

  bool start_object(std::size_t) {
    if (depth_ >= 2) fail("an object");
    ++depth_;
    return true;
  }

  bool end_object() {
    if (depth_ == 2 && !in_metadata_)
      for (const std::string_view field : kFields)
        if (std::ranges::find(fields_, field) == fields_.end())
          throw Error(place_, tensor_text() + " has no " + in_quotes(field));
    in_metadata_ = false;
    --depth_;
    return true;
  }

  bool start_array(std::size_t) {
    if (depth_ != 2 || in_metadata_ || field_ == "dtype") fail("a list");
    list_.clear();
    ++depth_;
    return true;
  }

  bool end_array() {
    --depth_;
    Tensor& tensor = tensors_.back();
    if (field_ == "shape") {
      tensor.shape = list_;
      return true;
    }
    if (list_.size() != 2)
      throw Error(place_,
                  tensor_text() + " has " + std::to_string(list_.size()) + " data_offsets, not 2");
    tensor.begin = static_cast<std::size_t>(list_[0]);
    tensor.end = static_cast<std::size_t>(list_[1]);
    return true;
  }

  bool key(std::string& name) {
    if (in_metadata_) return true;  // its texts are for people
    if (depth_ == 1) {
      in_metadata_ = name == "__metadata__";
      if (in_metadata_) return true;
      tensors_.push_back({});
      tensors_.back().name = name;
      fields_.clear();
      return true;
    }
    if (std::ranges::find(kFields, name) == std::end(kFields))
      throw Error(place_, tensor_text() + " has an unknown field " + in_quotes(name));
    if (std::ranges::find(fields_, name) != fields_.end())
      throw Error(place_, tensor_text() + " has " + in_quotes(name) + " twice");
    fields_.push_back(name);
    field_ = name;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    throw_json_error(text_, position, place_);
  }

 private:
  static constexpr std::string_view kFields[] = {"dtype", "shape", "data_offsets"};

  std::string tensor_text() const { return "tensor " + in_quotes(tensors_.back().name); }

  [[noreturn]] void fail(const std::string& what) const {
    if (tensors_.empty()) throw Error(place_, what + " has no place in a header");
    throw Error(place_, what + " has no place in or after " + tensor_text());
  }

  std::string_view text_;
  std::string_view place_;
  int depth_ = 0;
  bool in_metadata_ = false;
  std::vector<std::string> fields_;  ///< of the tensor being read
  std::string field_;
  std::vector<Index> list_;
  std::vector<Tensor> tensors_;
};

void require_distinct_names(const std::vector<Tensor>& tensors, std::string_view place) {
  std::vector<std::string_view> names;
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) throw Error(place, "tensor " + in_quotes(*twice) + " is given twice");
}

}  // namespace

std::vector<Tensor> parse_safetensors_header(std::span<const std::byte> bytes,
                                             std::size_t data_size, std::string_view place) {
  const std::string_view text = json_text(bytes, place);
  Handler handler(text, place);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  std::vector<Tensor> tensors = handler.take_tensors();
  require_distinct_names(tensors, place);

  std::ranges::sort(tensors, {}, [](const Tensor& t) { return std::pair(t.begin, t.end); });
  std::size_t position = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.begin != position || tensor.end < tensor.begin || tensor.end > data_size)
      throw Error(place, "tensor " + in_quotes(tensor.name) + " has data_offsets " +
                             std::to_string(tensor.begin) + " and " + std::to_string(tensor.end) +
                             ", should begin at " + std::to_string(position) + " and end within " +
                             std::to_string(data_size) + " bytes");
    position = tensor.end;
  }
  if (position != data_size)
    throw Error(place, "the tensors end at byte " + std::to_string(position) + " of " +
                           std::to_string(data_size) + " bytes of data");
  return tensors;
}

}  // namespace sdpa
