# Lists without numbers are arrays too: what is written of an empty output is read back.
echo '{"q": [[1], [2]], "k": [[3]], "v": [[]]}' >case.json
sdpa case.json -o o.json
cat o.json
sdpa compare o.json <(npy '<f8' '(2, 0)')
echo '[[[], []]]' >e.json
status sdpa compare o.json e.json
status sdpa -q e.json -k e.json -v e.json
echo '[]' >none.json
status sdpa -q none.json -k e.json -v e.json
echo '[[1], []]' | status sdpa compare - o.json
