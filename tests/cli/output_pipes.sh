# Pipes and devices are written directly.
cp "$data"/example/case.json .
mkfifo out.json
cat out.json >copy &
sdpa case.json -o out.json
wait
cat copy
stat -c %F out.json
ln -s /dev/null null.npy
sdpa case.json -o null.npy -w w.json
stat -c %F /dev/null
