# The same example from three files of either form, long and short options, with its weights.
cp "$data"/example/*.npy "$data"/example/*.json .
sdpa -q q.npy -k k.npy -v v.npy
sdpa --query=q.json --key=k.json --value v.json --output out.json --weights w.json
cat out.json w.json
sdpa -qq.json -k k.npy -v - <v.json
sdpa -q q.json -k k.npy -v v.json -w w2.json >/dev/null
cmp w.json w2.json
