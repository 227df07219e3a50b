# An input without end is refused where its size is known; nothing waits for its end or fills the memory.
example=$data/example
status sdpa -q /dev/zero:f32:2x1 -k "$example"/k.npy -v "$example"/v.npy
cat /dev/zero | status sdpa -q -:f64:2x1 -k "$example"/k.npy -v "$example"/v.npy
