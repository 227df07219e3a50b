#include "cli/nan_inputs.h"

#include "cli/streams.h"
#include "io/argument.h"
#include "report/non_finite.h"

namespace sdpa {

void warn_of_nans(const Array& input, const std::string& argument, const std::string& place) {
  const NonFinite found = find_non_finite(input);
  if (found.nans == 0) return;
  const bool type_is_said = parse_argument(argument).dtype.has_value();
  complain("warning: " + std::to_string(found.nans) + " of " +
           std::to_string(input.shape().element_count()) + " numbers of " + place + " are NaN" +
           (type_is_said ? ": is TYPE " + std::string(name(input.dtype())) + " right?" : ""));
}

}  // namespace sdpa
