#include "io/output_form.h"

#include "base/error.h"
#include "io/output_place.h"

namespace sdpa {

std::optional<OutputForm> form_of_name(std::string_view path) {
  int form = 0;
  for (const std::string_view name : kOutputForms) {
    if (path.ends_with(name) && path.size() > name.size() &&
        path[path.size() - name.size() - 1] == '.')
      return OutputForm(form);
    ++form;
  }
  return std::nullopt;
}

OutputForm output_form(const std::string& path, std::optional<OutputForm> wanted) {
  const std::optional<OutputForm> named = form_of_name(path);
  if (wanted && named && wanted != named)
    throw Error(output_name(path), "its name says another form than --format " +
                                       std::string(kOutputForms[static_cast<int>(*wanted)]));
  if (wanted) return *wanted;
  if (named) return *named;
  if (output_place(path).is_stream()) return OutputForm::json;
  std::string names;
  for (const std::string_view name : kOutputForms)
    names.append(names.empty() ? "." : name == "bin" ? " or ." : ", .").append(name);
  throw Error(output_name(path), "the name of an output ends in " + names);
}

}  // namespace sdpa
