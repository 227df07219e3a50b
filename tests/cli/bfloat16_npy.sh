# bfloat16 in a .npy: what sdpa writes, voids of two bytes, is read back; the bits in 16-bit integers are bfloat16,
# or float16, if the user says so. The reports show the type.
cp "$data"/example/[qkv].npy .
sdpa -q q.npy -k k.npy -v v.npy --dtype bfloat16 -o o.npy
tr -d '\n' <o.npy | grep -ao "'<V2'"
sdpa compare o.npy o.npy:bfloat16
sdpa check o.npy -q q.npy -k k.npy -v v.npy | grep -e bound: -e output

echo integers
npy '>u2' '(1, 2)' '\077\200\300\000' >bits.npy  # 3f80, c000
npy '<f8' '(1, 1)' '\0\0\0\0\0\0\360\077' >one.npy
sdpa -q one.npy -k one.npy -v bits.npy
sdpa -q one.npy -k one.npy -v bits.npy:bfloat16
sdpa -q one.npy -k one.npy -v bits.npy:float16
status sdpa -q one.npy -k one.npy -v bits.npy:float32
npy '<f8' '(1, 1)' '\232\231\231\231\231\231\271\077' >tenth.npy
sdpa -q one.npy:bfloat16 -k one.npy:float32 -v one.npy:half
status sdpa -q one.npy -k tenth.npy:bfloat16 -v bits.npy
