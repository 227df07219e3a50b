#pragma once

#include "array/array.h"
#include "io/file.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// What a member of a file holds: an array, of rank 0 for a single number or truth value, or a text.
struct CaseMember {
  std::string name;
  std::optional<Array> array;
  std::optional<std::string> text;
};

/// A file of several members, of which the names are known and each is read when it is asked for.
class MemberFile {
 public:
  virtual ~MemberFile() = default;

  /// In the order of the file, each once; without the .npy that numpy puts behind them.
  const std::vector<std::string>& names() const { return names_; }

  /// The member at this position of names(). Throws Error that begins with `place: name` if it is
  /// damaged or nothing that is read.
  virtual CaseMember read(std::size_t position) const = 0;

 protected:
  std::vector<std::string> names_;
};

/// "'q', 'k' and 'v'"; of many the first ones.
std::string listed(const std::vector<std::string>& names);

/// Throws Error that begins with `place: name` if a name is there twice.
void require_distinct(const std::vector<std::string>& names, std::string_view place);

/// The array called `name`, or, without a name, the only one. Throws Error that lists the names that
/// there are.
Array read_member_array(const MemberFile& file, const std::optional<std::string>& name,
                        std::string_view place);

}  // namespace sdpa
