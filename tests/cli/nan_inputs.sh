# Where a result is not finite, inputs with NaN are named, with their share; if the user has said their type, it may
# be a wrong one: int16 -1 and -2 are NaN as float16.
printf '\377\377\376\377\1\0\2\0' >int16.bin
printf '\377\377\376\377\375\377\374\377' >all.bin
type=float16:2x2
status sdpa -q int16.bin:$type -k int16.bin:$type -v all.bin:$type -o o.npy -w w.npy
echo JSON >&2
status sdpa -q int16.bin:$type -k all.bin:$type -v all.bin:$type
status sdpa -q - -k all.bin:int16:2x2 -v all.bin:int16:2x2 -o o.npy <<<'[[1, 2]]'
echo 'no type said' >&2
npy '<f4' '(1, 2)' '\0\0\300\177' '\0\0\0\0' >nan.npy
npy '<f4' '(1, 2)' '\0\0\200\177' '\0\0\0\0' >inf.npy
status sdpa -q nan.npy -k nan.npy -v inf.npy -o o.npy
npy '<u2' '(1, 2)' '\377\377\0\0' >bits.npy
status sdpa -q bits.npy:float16 -k bits.npy -v bits.npy -o o.npy
