#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sdpa {

/// How an output is written.
enum class OutputForm {
  npy,
  npz,
  safetensors,
  json,
  csv,  ///< decimal text, numbers separated by commas
  txt,  ///< the same, by blanks
  bin,  ///< the numbers alone
};

/// Their names, in the order of the enum, which are the extensions of files.
inline constexpr std::string_view kOutputForms[] = {"npy", "npz", "safetensors", "json",
                                                    "csv", "txt", "bin"};

/// The form that the extension of a name means, if any.
std::optional<OutputForm> form_of_name(std::string_view path);

/// The form in which `path` is written: `wanted`, or that of its extension, or JSON for a stream without
/// one. Throws Error that begins with the path if there is none, or if the extension says another form
/// than `wanted`.
OutputForm output_form(const std::string& path, std::optional<OutputForm> wanted);

/// Whether a file of this form can hold several results, each by its name.
inline bool holds_several(OutputForm form) {
  return form == OutputForm::npz || form == OutputForm::safetensors;
}

}  // namespace sdpa
