# T_q, T_k, d_k and d_v all differ; one key returns its value; no query and no column are no error.
echo '{"q": [[0, 0]], "k": [[1, 2], [3, 4], [5, 6]], "v": [[3, 0, 6, 9], [0, 3, 6, 9], [0, 0, 6, 9]]}' | sdpa -
echo '{"q": [[7], [-8]], "k": [[9]], "v": [[0.1, 2]]}' | sdpa -
echo '[[1], [2]]' >k.json
npy '<f4' '(0, 1)' >no_rows.npy
npy '<f4' '(2, 0)' >no_columns.npy
sdpa -q no_rows.npy -k k.json -v k.json -o out.npy -w w.npy
tr -d '\n' <out.npy | grep -aoE '\(.*\)'
tr -d '\n' <w.npy | grep -aoE '\(.*\)'
sdpa -q k.json -k k.json -v no_columns.npy -o out.npy
tr -d '\n' <out.npy | grep -aoE '\(.*\)'
