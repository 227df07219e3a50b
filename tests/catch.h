#pragma once

// Catch2 2.13 and 3.x name their headers differently.
#if SDPA_CATCH2_VERSION >= 3
#ifdef CATCH_CONFIG_MAIN
#include <catch2/catch_session.hpp>
int main(int argc, char* argv[]) {
  return Catch::Session().run(argc, argv);
}
#endif
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif
