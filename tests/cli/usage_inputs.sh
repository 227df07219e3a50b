# Inputs that cannot be meant.
status sdpa
status sdpa -q q.npy
status sdpa -k k.npy -v v.npy
status sdpa -q q.npy -v v.npy
status sdpa -o out.npy
status sdpa case.json -q q.npy
status sdpa -v v.npy -- case.json
status sdpa a.json b.json
status sdpa ''
status sdpa -q - -k k.npy -v -
status sdpa -q q.npy -k -:float32:2x2 -v -
status sdpa - -k -
ls -A
