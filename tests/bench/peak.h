#pragma once

namespace sdpa::bench {

/// Billions of operations a second of one thread that does nothing but fused multiply-adds (two
/// operations each) in the vectors of the instruction set in use. Takes some milliseconds.
struct Peak {
  double (*float32)();
  double (*float64)();
};
const Peak& peak();

}  // namespace sdpa::bench
