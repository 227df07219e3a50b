# What cannot be judged is exit 2: another shape, a type of no results, a bound that zeros would pass.
echo '[[1, 2]]' >output.json
npy '<i4' '(2, 2)' '\1\0\0\0\1\0\0\0\1\0\0\0\1\0\0\0' >integers.npy
inputs="-q $data/example/q.npy -k $data/example/k.npy -v $data/example/v.npy"
status sdpa check output.json $inputs
status sdpa check integers.npy $inputs
status sdpa check output.json -q output.json -k output.json -v output.json | head -n 1

# Sums of 512 values in bfloat16 have no bound.
echo '[[0]]' >query.json
echo '[[0.5]]' >half.json
for key in $(seq 512); do echo "[$((key % 2))]"; done | paste -sd, | sed 's/.*/[&]/' >keys.json
bfloat16="-q query.json -k keys.json -v keys.json --arithmetic sums=bfloat16"
status sdpa check half.json $bfloat16 | head -n 1
status sdpa check half.json $bfloat16 --json | head -n 2
