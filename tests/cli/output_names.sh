# The extension says the form of an output, in every folder; without one, what is a stream gets JSON.
cp "$data"/example/case.json .
npy '<f8' '(2, 2)' '\0\0\0\0\0\0\0\100' '\0\0\0\0\0\0\0\100' '\0\0\0\0\0\0\370\077' '\0\0\0\0\0\0\10\100' >right.npy
if [[ -w /dev/shm ]]; then
  shm=$(mktemp -d /dev/shm/sdpa-XXXXXX)
  sdpa case.json -o "$shm"/o.npy -w "$shm"/w.json
  cmp "$shm"/o.npy right.npy
  head -n 1 "$shm"/w.json
  rm -r "$shm"
else
  echo '[[0.6666666666666666, 0.3333333333333333],'
fi

echo pipes
mkfifo pipe pipe.npy
cat pipe >piped.json & sdpa case.json -o pipe; wait
cat piped.json
cat pipe.npy | cmp - right.npy & sdpa case.json -o pipe.npy; wait

echo 'links to the descriptor, which is written where it stands'
ln -s /dev/stdout link.npy
ln -s link.npy link.bin
sdpa case.json -o link.npy | cmp - right.npy
{ printf before && sdpa case.json -o link.npy && printf behind; } >file
{ printf before && cat right.npy && printf behind; } | cmp - file
sdpa case.json -o link.bin | cmp - <(tail -c +129 right.npy)

echo 'no streams'
ln -s file link
for name in link /dev/shm /dev/stdout.npy /dev/absent.json /dev/absent /dev/fd/1.npy; do
  status sdpa case.json -o $name
done
ls -A
