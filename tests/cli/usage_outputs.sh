# Two results cannot go to one place, however it is written.
ln -s . here
status sdpa case.json -w -
status sdpa case.json -o out.npy -w out.npy
status sdpa case.json -o out.npy -w ./here/./out.npy
status sdpa case.json -o "$PWD"/out.npy -w here/out.npy
ln -s there.npy link.npy
ln -s here/link.npy longer_link.npy
status sdpa case.json -o there.npy -w link.npy
status sdpa case.json -o longer_link.npy -w link.npy
status sdpa case.json -o /dev/stdout -w -
status sdpa case.json -w /dev/fd/1 >file.json
status sdpa case.json -w file.json >file.json
rm file.json
mkfifo pipe
status sdpa case.json -o pipe -w ./pipe
rm pipe

# But what keeps nothing can take both.
cp "$data"/example/case.json .
status sdpa case.json -w /dev/null >/dev/null
ln -s /dev/null null.npy
status sdpa case.json -o null.npy -w /dev/null
rm null.npy case.json
ls -A
