# Shapes that do not fit: the file at fault comes first, then both values.
echo '[[1, 2], [3, 4]]' >2x2.json
echo '[[1, 2, 3], [4, 5, 6]]' >2x3.json
echo '[[1, 2], [3, 4], [5, 6]]' >3x2.json
echo '[1, 2]' >2.json
echo '[[[1, 2], [3, 4]], [[1, 2], [3, 4]]]' >2x2x2.json
echo '[[[1, 2], [3, 4]], [[1, 2], [3, 4]], [[1, 2], [3, 4]]]' >3x2x2.json
npy '<f4' '(0, 2)' >0x2.npy
npy '<f4' '(2, 0)' >2x0.npy
npy '<f4' '()' '\0\0\0\0' >scalar.npy
status sdpa -q 2x3.json -k 2x2.json -v 2x2.json
status sdpa -q 2x2.json -k 2x3.json -v 2x2.json
status sdpa -q 2x2.json -k 2x2.json -v 3x2.json
status sdpa -q 2.json -k 2x2.json -v 2x2.json
status sdpa -q 2x2.json -k scalar.npy -v 2x2.json
status sdpa -q 2x2.json -k 2x2.json -v 2.json
status sdpa -q 3x2x2.json -k 2x2x2.json -v 3x2x2.json
status sdpa -q 2x2.json -k 2x2.json -v 2x2x2.json
status sdpa -q 2x2.json -k 0x2.npy -v 0x2.npy
status sdpa -q 2x0.npy -k 2x0.npy -v 2x2.json
status sdpa -q 2x2.json -k - -v 2x2.json -o out.npy <2x3.json
echo '{"q": [[1, 2]], "k": [[1]], "v": [[1]]}' >case.json
status sdpa case.json
status sdpa - -o out.npy -w w.npy <case.json
[[ ! -e out.npy && ! -e w.npy ]]
