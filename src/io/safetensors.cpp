#include "io/safetensors.h"

#include "base/error.h"
#include "io/decode.h"
#include "io/quote.h"
#include "io/safetensors_header.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace sdpa {

namespace {

constexpr std::size_t kLengthBytes = 8;

constexpr std::pair<std::string_view, Dtype> kTypes[] = {
    {"F16", Dtype::float16},
    {"BF16", Dtype::bfloat16},
    {"F32", Dtype::float32},
    {"F64", Dtype::float64},
    {"I8", Dtype::int8},
    {"U8", Dtype::uint8},
    {"I16", Dtype::int16},
    {"U16", Dtype::uint16},
    {"I32", Dtype::int32},
    {"U32", Dtype::uint32},
    {"I64", Dtype::int64},
    {"U64", Dtype::uint64},
    {"BOOL", Dtype::boolean},
    {"F8_E4M3", Dtype::float8_e4m3fn},
    {"F8_E5M2", Dtype::float8_e5m2},
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

class TensorFile : public MemberFile {
 public:
  TensorFile(const FileBytes& file, std::string_view place)
      : place_(place), contents_(contents_of(file, place)) {
    for (const Tensor& tensor : contents_.tensors) names_.push_back(tensor.name);
  }

  CaseMember read(std::size_t position) const override {
    const std::string place = place_ + ": " + printable(names_[position]);
    return {names_[position], array_of(contents_.tensors[position], contents_.data, place), {}};
  }

 private:
  std::string place_;
  Contents contents_;
};

std::string_view name_of(Dtype dtype) {
  return std::ranges::find(kTypes, dtype, [](const auto& t) { return t.second; })->first;
}

}  // namespace

std::string safetensors_header(const std::vector<NewTensor>& tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  Index begin = 0;
  for (const NewTensor& tensor : tensors) {
    const Index end = begin + tensor.shape.element_count() * size_bytes(tensor.dtype);
    const auto extents = tensor.shape.extents();
    header[tensor.name] = {{"dtype", name_of(tensor.dtype)},
                           {"shape", std::vector<Index>(extents.begin(), extents.end())},
                           {"data_offsets", {begin, end}}};
    begin = end;
  }
  std::string text = header.dump();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), kLengthBytes) + text;
}

bool is_safetensors(std::span<const std::byte> bytes) {
  return bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{'{'} &&
         header_size(bytes) <= bytes.size() - kLengthBytes;
}

std::unique_ptr<MemberFile> open_safetensors(const FileBytes& file, std::string_view place) {
  return std::make_unique<TensorFile>(file, place);
}

}  // namespace sdpa
