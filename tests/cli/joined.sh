# Keys and values in several files are joined along T.
echo '[[0.6931471805599453], [0]]' >q.json
echo '[[1]]' >k0.json
echo '[[0]]' >k1.json
echo '[[3, 0], [0, 6]]' >v.json
echo 'two files of keys, one of values:'
sdpa -q q.json -k k0.json -k k1.json -v v.json
echo 'their order counts:'
sdpa -q q.json -k k1.json -k k0.json -v v.json
echo 'check:'
echo '[[2, 2], [1.5, 3]]' >o.json
sdpa check o.json -q q.json -k k0.json -k k1.json -v v.json | head -1

echo 'past and new keys; the query is the last position:'
echo '[[1, 0], [0, 1]]' >v2.json
sdpa -q k1.json -k k0.json -k k1.json -v v.json --causal --align bottom-right
sdpa -q k1.json -k k0.json -k k1.json -v v.json --causal --align 0
echo 'ONNX: past keys (B, G, T, d), new ones (B, T, G d):'
echo '[[[0, 0]]]' >q_flat.json
echo '[[[[1]], [[2]]]]' >past.json
echo '[[[3, 4]]]' >new.json
sdpa -q q_flat.json -k past.json -k new.json -v past.json -v new.json --heads 2

status sdpa -q q.json -k k0.json -k k1.json -v v.json -v v.json
status sdpa -q q.json -k k0.json -v v.json
echo '[[1, 2]]' >wide.json
status sdpa -q q.json -k k0.json -k wide.json -v v.json
status sdpa -q q.json -k - -k - -v v.json
status sdpa -q q.json -q q.json -k k0.json -v v.json
echo '{"q": [[1]], "k": [[1]], "v": [[1]]}' >case.json
status sdpa case.json -k k0.json -k k1.json
