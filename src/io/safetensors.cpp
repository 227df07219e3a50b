#include "io/safetensors.h"

#include "base/error.h"
#include "io/decode.h"
#include "io/quote.h"
#include "io/safetensors_header.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace sdpa {

namespace {

constexpr std::size_t kLengthBytes = 8;

constexpr std::pair<std::string_view, Dtype> kTypes[] = {
    {"F16", Dtype::float16},  {"BF16", Dtype::bfloat16}, {"F32", Dtype::float32},
    {"F64", Dtype::float64},  {"I8", Dtype::int8},       {"U8", Dtype::uint8},
    {"I16", Dtype::int16},    {"U16", Dtype::uint16},    {"I32", Dtype::int32},
    {"U32", Dtype::uint32},   {"I64", Dtype::int64},     {"U64", Dtype::uint64},
    {"BOOL", Dtype::boolean},
};

std::uint64_t header_size(std::span<const std::byte> bytes) {
  std::uint64_t size;
  std::memcpy(&size, bytes.data(), sizeof size);
  return size;
}

/// A file of which the header is understood.
struct Contents {
  std::vector<Tensor> tensors;
  FileBytes data;
};

Contents contents_of(const FileBytes& file, std::string_view place) {
  const auto size = static_cast<std::size_t>(header_size(file.bytes));
  const std::size_t data = kLengthBytes + size;
  const std::size_t data_size = file.bytes.size() - data;
  return {parse_safetensors_header(file.bytes.subspan(kLengthBytes, size), data_size,
                                   std::string(place) + ": header"),
          file.part(data, data_size)};
}

Array array_of(const Tensor& tensor, const FileBytes& data, const std::string& place) {
  const auto* type = std::ranges::find(kTypes, tensor.dtype, [](const auto& t) { return t.first; });
  if (type == std::end(kTypes))
    throw Error(place, "type " + in_quotes(tensor.dtype) + " is not taken");
  return decode(data.part(tensor.begin, tensor.end - tensor.begin),
                {type->second, file_shape(tensor.shape, place)}, place);
}

std::string names_text(const std::vector<Tensor>& tensors) {
  constexpr std::size_t kMostNames = 8;
  std::string text;
  for (const Tensor& tensor : tensors) {
    if (&tensor == tensors.data() + kMostNames) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += in_quotes(tensor.name);
  }
  return text;
}

}  // namespace

bool is_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{'{'} &&
         header_size(bytes) <= bytes.size() - kLengthBytes;
}

Array read_safetensors(const FileBytes& file, std::string_view name, std::string_view place) {
  const Contents contents = contents_of(file, place);
  for (const Tensor& tensor : contents.tensors)
    if (tensor.name == name) return array_of(tensor, contents.data, std::string(place));
  throw Error(place, "no tensor has this name; there are " +
                         std::to_string(contents.tensors.size()) + ": " +
                         names_text(contents.tensors));
}

Case read_safetensors_case(const FileBytes& file, std::string_view place) {
  const Contents contents = contents_of(file, place);
  const auto operand = [&](std::string_view name) {
    const auto tensor = std::ranges::find(contents.tensors, name, &Tensor::name);
    if (tensor == contents.tensors.end())
      throw Error(place, "tensor " + in_quotes(name) + " is missing");
    return array_of(*tensor, contents.data, std::string(place) + ": " + std::string(name));
  };
  Case operands{operand("q"), operand("k"), operand("v")};
  for (const Tensor& tensor : contents.tensors)
    if (tensor.name != "q" && tensor.name != "k" && tensor.name != "v")
      throw Error(place, "tensor " + in_quotes(tensor.name) + " is not one of 'q', 'k' and 'v'");
  return operands;
}

}  // namespace sdpa
