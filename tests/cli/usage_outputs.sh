# Two results cannot go to one place, however it is written.
ln -s . here
status sdpa case.json -w -
status sdpa case.json -o out.npy -w out.npy
status sdpa case.json -o out.npy -w ./here/./out.npy
status sdpa case.json -o "$PWD"/out.npy -w here/out.npy
ls -A
