# Another shape is a difference; what cannot be read is never equal; nothing equals nothing.
echo '[[1, 2]]' >row.json
echo '[[1], [2]]' >column.json
echo '[[1, "2"]]' >words.json
npy '<f4' '(0, 3)' >empty.npy
npy '<f4' '(3, 0)' >other_empty.npy
npy '<c8' '(1,)' '\0\0\0\0\0\0\0\0' >complex.npy
npy '<f4' '(1, 2)' '\0\0\200\077\0\0\0\100' >float32.npy
status sdpa compare row.json column.json
status sdpa compare row.json column.json --json | tr -d ' \n'; echo
status sdpa compare float32.npy row.json | head -n 1
status sdpa compare float32.npy row.json --bitwise
status sdpa compare empty.npy empty.npy
status sdpa compare empty.npy other_empty.npy
for file in missing.npy words.json complex.npy; do
  sdpa compare row.json "$file" 2>>message
  echo "$file: exit $?"
done
wc -l <message
status sdpa compare row.json row.json >/dev/full
