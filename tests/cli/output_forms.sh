# The extension says the form of an output; a device or a descriptor without one gets JSON.
cp "$data"/example/case.json .
for form in npy json bin; do sdpa case.json -o out.$form -w w.$form; done
cat out.json w.json
od -An -v -tf8 -w16 out.bin | tr -s ' '
npy '<f8' '(2, 2)' >header.npy
cat header.npy out.bin | cmp - out.npy
cat header.npy w.bin | cmp - w.npy
sdpa -q out.npy -k out.json -v out.json >/dev/null
sdpa case.json -o /dev/stdout
sdpa case.json -o >(cat >copy.json) && sleep 0.1 && cmp copy.json out.json
for name in out out.xls out.npy.gz .npy/ .; do status sdpa case.json -o $name; done
ls -A
