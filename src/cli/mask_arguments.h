#pragma once

#include "attention/mask.h"
#include "io/case.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sdpa {

/// The options that say which keys are seen, before their files are read.
struct MaskArguments {
  bool causal = false;
  std::optional<Window> window;
  std::optional<Alignment> align;
  std::optional<std::string> key_lengths, query_lengths;  ///< "5,11,22", or argument of read_array
  std::optional<std::string> mask, bias;                  ///< arguments of read_array
  std::optional<bool> mask_hides;
  std::optional<EmptyRows> empty_rows;
};

/// Words that --align, --mask-true and --empty-rows take, in the order of what they mean.
inline constexpr std::string_view kCorners[] = {"top-left", "bottom-right"};
inline constexpr std::string_view kMaskTrue[] = {"attend", "ignore"};
inline constexpr std::string_view kEmptyRows[] = {"zero", "nan", "mean", "error"};

/// The values of --window and --align from their words; `name` begins the message of the Error that
/// is thrown if they are none.
Window window_from(std::string_view name, std::string_view word);
Alignment alignment_from(std::string_view name, std::string_view word);

/// The options, with their files read, and with the members of a case file that are spelled as they
/// are.
///
/// members   of the case file but for q, k and v
/// place     of the case file, for messages
///
/// Throws Error if an array cannot be read, a member has not the form of its option, or an option is
/// given in the case file too.
MaskOptions read_mask(const MaskArguments& arguments, const std::vector<CaseMember>& members = {},
                      std::string_view place = {});

/// Names of the members of a case file that read_mask takes.
std::vector<std::string_view> mask_member_names();

/// "12,345 of 65,536 pairs visible; 2 rows see no key"
std::string visible_text(Index visible_pairs, Index pairs, Index empty_rows);

}  // namespace sdpa
