# Names of options and commands that do not exist: what was meant is named, if it is near.
cp "$data"/example/case.json .
status sdpa chek a
status sdpa Compare a.npy b.npy
status sdpa frobnicate a
status sdpa chek -q q.npy -k k.npy -v v.npy
status sdpa --threads 2 check a.npy
status sdpa case.json --dtpe f32
status sdpa case.json --dtpe=f32
status sdpa case.json -dtype f32
status sdpa case.json --prec exact
status sdpa case.json -output out.json
status sdpa case.json -Q q.npy
status sdpa case.json --frobnicate
status sdpa compare a.npy b.npy --max_ulp 1
status sdpa compare a.npy b.npy --frobnicate
status sdpa compare a.npy b.npy --dtype float32
status sdpa check a.npy --bitwise
status sdpa case.json --json
ls -A
# A file of such a name is one.
cp case.json chek
sdpa chek
