# The output type is numpy's result_type of the inputs, or what --dtype says; each value is written
# with the fewest digits that read back to it.
tenth='\315\314\314\075'  # the float32 next to 0.1
npy '<f4' '(1, 1)' "$tenth" >v.npy
npy '<f4' '(1, 1)' '\0\0\0\0' >float32.npy
npy '<f2' '(1, 1)' '\0\0' >float16.npy
npy '<i4' '(1, 1)' '\0\0\0\0' >int32.npy
echo '[[0]]' >numbers.json
sdpa -q float32.npy -k float32.npy -v v.npy
sdpa -q float16.npy -k float16.npy -v v.npy
sdpa -q float16.npy -k int32.npy -v v.npy
sdpa -q float16.npy -k numbers.json -v v.npy
for dtype in float16 bfloat16 float32 float64; do
  echo '{"q": [[0]], "k": [[0]], "v": [[0.1]]}' | sdpa - --dtype $dtype
  echo '{"q": [[0]], "k": [[0]], "v": [[0.1]]}' | sdpa - --dtype $dtype -o $dtype.bin
  od -An -v -tx1 $dtype.bin
done
