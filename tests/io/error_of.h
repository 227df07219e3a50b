#pragma once

#include "base/error.h"

#include <string>

/// The message of the Error that `function` throws; empty if it returns.
template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const sdpa::Error& error) {
    return error.what();
  }
  return "";
}
