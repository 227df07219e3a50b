# A file may be called like anything.
cp "$data"/example/case.json compare
cp "$data"/example/case.json ./-w
sdpa ./compare
sdpa -- -w
# Standard input may stand where a file does, with a type and a shape, or a name, behind it.
cp "$data"/example/*.npy .
tail -c +129 q.npy >q.bin
sdpa compare -:float64:2x1 q.npy <q.bin
sdpa compare q.npy -:float64:2x1 --max-ulp 1 <q.bin
sdpa -q q.npy -k k.npy -v v.npy -o o.bin
sdpa check --json -:float64:2x2 -q q.npy -k k.npy -v v.npy <o.bin | grep verdict
status sdpa -:float32:5x3 <q.bin
status sdpa '-#name' <q.bin
