# Files of several results, text, and --format, where the name says nothing.
cp "$data"/example/case.json .
sdpa case.json -o x.npz -w x.npz
ls *.npz
sdpa case.json -o w.json
sdpa compare x.npz#output w.json --bitwise | head -n 1
sdpa case.json -o y.safetensors --dtype e5m2
sdpa compare y.safetensors w.json --max-ulp 1 | head -n 1
sdpa case.json -o o.npz --dtype float32 -w other.safetensors
sdpa compare o.npz w.json | head -n 1
sdpa compare other.safetensors x.npz#weights --max-ulp 0 | head -n 1
sdpa case.json -o o.csv -w w.txt
cat o.csv w.txt
sdpa case.json --format npy | sdpa compare - o.csv | head -n 1
sdpa case.json --format csv
sdpa case.json --format npz | cat >piped.npz
sdpa compare piped.npz o.csv | head -n 1

echo refused
status sdpa case.json -o x.npz -w x.npz --format json
status sdpa case.json -o same.npy -w same.npy
status sdpa case.json -o x.npz --format npy
status sdpa case.json --format npz -w /dev/stdout
status sdpa case.json --format xls
status sdpa case.json -o out.xls
status sdpa case.json -o e.npz --dtype e4m3
