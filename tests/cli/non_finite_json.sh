# JSON has no word for NaN or infinity: such a result is refused, and nothing appears.
echo '[[1]]' >one.json
npy '<f4' '(1, 1)' '\0\0\300\177' >nan.npy
status sdpa -q nan.npy -k one.json -v one.json
status sdpa -q one.json -k one.json -v nan.npy -o out.json -w w.npy
status sdpa -q nan.npy -k one.json -v one.json -o out.npy -w w.json
ls -A
