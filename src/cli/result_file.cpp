#include "cli/result_file.h"

#include "cli/streams.h"

#include <cmath>
#include <utility>

namespace sdpa {

ResultFile::ResultFile(std::string_view kind, const std::string& path, Shape shape, Dtype dtype,
                       std::optional<OutputForm> form)
    : kind_(kind),
      shape_(std::move(shape)),
      writer_(open_array_writer(path, shape_, dtype, kind_, form)) {}

void ResultFile::append(const Array& slab) {
  NonFinite found = find_non_finite(slab);
  if (expects_minus_infinity_ && found.count != 0) {
    found = {};
    for (Index i = 0; i < slab.shape().element_count(); ++i) {
      const double value = slab.at(i);
      if (std::isfinite(value) || value < 0) continue;
      if (found.count++ == 0) found.first = i;
    }
  }
  if (found.first && !non_finite_.first) non_finite_.first = appended_ + *found.first;
  non_finite_.count += found.count;
  appended_ += slab.shape().element_count();
  writer_->append(slab.bytes());
}

void ResultFile::warn() const {
  if (const std::string note = writer_->note(); !note.empty()) complain("warning: " + note);
  if (!non_finite_.first) return;
  complain("warning: " + std::to_string(non_finite_.count) + " of " +
           std::to_string(shape_.element_count()) + " " + kind_ +
           (kind_.ends_with('s') ? "" : " values") + " are not finite, the first at " +
           shape_.index_text(*non_finite_.first));
}

}  // namespace sdpa
