# A disk that fills up while an output is written: what was there before stays, and nothing is left.
mkdir disk
namespace=()
for form in --mount '--mount --map-root-user'; do
  [[ ${#namespace[@]} -eq 0 ]] || break
  unshare $form mount -t tmpfs tmpfs disk 2>/dev/null && namespace=(unshare $form)
done
[[ ${#namespace[@]} -ne 0 ]] || skip 'no right to mount a small tmpfs'

{ npy '<f4' '(8192, 1)' && head -c 32768 /dev/zero; } >q.npy
npy '<f4' '(1, 1)' '\0\0\0\0' >k.npy
npy '<f4' '(1, 4)' '\0\0\0\0' '\0\0\0\0' '\0\0\0\0' '\0\0\0\0' >v.npy
"${namespace[@]}" bash -u <<'END'
mount -t tmpfs -o size=64k tmpfs disk
for name in o.npy o.bin o.json w.npy; do echo "old $name" >disk/$name; done
for output in disk/o.npy disk/o.bin disk/o.json; do
  status sdpa -q q.npy -k k.npy -v v.npy -o $output -w disk/w.npy
done
echo old >o.npy
status sdpa -q q.npy -k q.npy -v q.npy -o o.npy -w disk/w.npy --precision float32
cat disk/* o.npy
ls -A . disk
END
