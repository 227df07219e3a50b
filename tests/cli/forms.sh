# Raw numbers and a tensor of a .safetensors file are operands like others, also from a pipe; a case may be
# a .safetensors file.
header='{"q":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]},"k":{"dtype":"F64","shape":[2,1],"data_offsets":[16,32]},"v":{"dtype":"F64","shape":[2,2],"data_offsets":[32,64]}}'
for name in q k v; do tail -c +129 "$data"/example/$name.npy >$name.bin; done
{
  printf "\\x$(printf %x ${#header})\0\0\0\0\0\0\0%s" "$header"
  cat q.bin k.bin v.bin
} >case.safetensors
sdpa -q q.bin:float64:2x1 -k k.bin:f64:2x1 -v - <"$data"/example/v.npy
sdpa -q - -k k.bin:f64:2x1 -v v.bin:f64:2x2 <"$data"/example/q.json
cat q.bin | sdpa -q -:f64:2x1 -k case.safetensors#k -v case.safetensors#v
sdpa case.safetensors
status sdpa -q q.bin:float32:2x1 -k k.bin:f64:2x1 -v v.bin:f64:2x2
status sdpa case.safetensors -o out.npy -w case.xls
ls -A
