# An output may replace an input.
cp "$data"/example/[qkv].json "$data"/example/q.npy .
sdpa -q q.json -k k.json -v v.json -o v.json
cat v.json
sdpa -q q.npy -k k.json -v v.json -o q.npy -w k.json
cat k.json
sdpa -q q.npy -k q.npy -v q.npy -o q.npy
