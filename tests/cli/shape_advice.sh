# Shapes that do not fit, and what could be meant.
zeros() { head -c $((4 * ${1//x/*})) /dev/zero >"$2.bin"; }
zeros 5x64 q; zeros 64x128 k; zeros 128x32 v
status sdpa -q q.bin:f32:5x64 -k k.bin:f32:64x128 -v v.bin:f32:128x32
zeros 128x64 k; zeros 128x32 v
status sdpa -q q.bin:f32:5x64 -k v.bin:f32:128x32 -v k.bin:f32:128x64
status sdpa -q q.bin:f32:64x5 -k k.bin:f32:128x64 -v v.bin:f32:128x32
status sdpa -q q.bin:f32:5x64 -k k.bin:f32:128x64 -v v.bin:f32:32x128
status sdpa -q q.bin:f32:5x64 -k k.bin:f32:128x64 -v v.bin:f32:64x64
status sdpa -q q.bin:f32:5x32 -k k.bin:f32:128x64 -v v.bin:f32:128x32

# Bits of float16 taken for bfloat16.
sdpa -q "$data/example/sentence/layer1_head0/q.npy" -k "$data/example/sentence/layer1_head0/k.npy" \
  -v "$data/example/sentence/layer1_head0/v.npy" -o o.bin --dtype float16
sdpa compare o.bin:float16:13x128 o.bin:float16:13x128 | head -n 1
sdpa compare o.bin:bfloat16:13x128 o.bin:bfloat16:13x128 | head -n 1
