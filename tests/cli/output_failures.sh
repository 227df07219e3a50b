# Nothing half-written is left behind, whatever goes wrong.
cp "$data"/example/case.json .
mkdir folder.npy
ln -s /dev/full full.npy
ln -s /dev/full full.json
status sdpa case.json >/dev/full
status sdpa case.json >&-
status sdpa case.json -o full.npy
status sdpa case.json -o full.json
status sdpa case.json -o absent/out.npy
status sdpa case.json -o case.json/out.npy
status sdpa case.json -o folder.npy
status sdpa case.json -o out.npy -w absent/w.npy
status sdpa case.json -o out.npy -w full.npy
status sdpa case.json -o full.npy -w w.npy
ls -A
