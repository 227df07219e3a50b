# An output through a descriptor of an input that is still to be read is refused before anything is
# written, as cat does. Whatever changes nothing of the input is allowed.
for name in q k v; do cp "$data"/example/$name.npy . && tail -c +129 $name.npy >$name.bin; done
cp "$data"/example/case.json .
printf -v header '%-184s' '{"q":{"dtype":"F64","shape":[2,1],"data_offsets":[0,16]},"k":{"dtype":"F64","shape":[2,1],"data_offsets":[16,32]},"v":{"dtype":"F64","shape":[2,2],"data_offsets":[32,64]}}'
{ printf '\270\0\0\0\0\0\0\0%s' "$header" && cat q.bin k.bin v.bin; } >case.safetensors
mkdir right && cp * right 2>/dev/null
ln -s /dev/fd/3 link.npy
ln -s /dev/fd/3 link.bin
npys=(-q q.npy -k k.npy -v v.npy)
raws=(-q q.bin:f64:2x1 -k k.bin:f64:2x1 -v v.bin:f64:2x2)

for name in q k v; do
  status sdpa ${npys[@]} 1<>$name.npy
  status sdpa ${raws[@]} 1<>$name.bin
done
status sdpa ${npys[@]} -o /dev/fd/3 3<>q.npy
status sdpa ${npys[@]} -o /proc/self/fd/3 3<>q.npy
status sdpa ${npys[@]} -o link.npy 3<>k.npy
status sdpa ${raws[@]} -o link.bin 3<>v.bin
status sdpa ${npys[@]} -w /dev/fd/3 -o o.npy 3<>v.npy
status sdpa ${npys[@]} -w link.npy -o o.npy 3<>v.npy
status sdpa -q - -k k.npy -v v.npy <q.npy 1<>q.npy
status sdpa -q case.safetensors#q -k k.npy -v v.npy 1<>case.safetensors
status sdpa -q q.npy -k k.npy -v v.npy -o /dev/fd/3 3<q.npy
for file in *.npy *.bin case.*; do [[ -L $file ]] || cmp $file right/$file; done
ls -A

echo 'Behind the input, beside it, or after all of it has been read'
sdpa ${npys[@]} >>v.npy
tail -c +161 v.npy
cp right/v.npy .
{ head -c 160 >&3 && sdpa ${npys[@]} -o /dev/fd/3; } 3<>v.npy <v.npy
tail -c +161 v.npy
cp right/v.npy .
sdpa ${npys[@]} -o q.npy -w k.npy
sdpa compare q.npy <(echo '[[2, 2], [1.5, 3]]')
cp right/*.npy .
sdpa case.json 1<>case.json
head -n 2 case.json
status sdpa case.safetensors 1<>case.safetensors
