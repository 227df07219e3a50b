# A file that is mounted by itself, as containers show one, cannot be replaced: it is overwritten at the end, and
# a warning says so. If that fails as well, the complete result is kept and named.
mkdir disk
namespace=()
for form in --mount '--mount --map-root-user'; do
  [[ ${#namespace[@]} -eq 0 ]] || break
  unshare $form mount --bind disk disk 2>/dev/null && namespace=(unshare $form)
done
[[ ${#namespace[@]} -ne 0 ]] || skip 'no right to mount'
"${namespace[@]}" bash -u <<'END'
cp "$data"/example/case.json "$data"/example/q.npy .
echo 'old, and longer than what will be written' >there.json
touch here.json
mount --bind there.json here.json
status sdpa case.json -o here.json
cat here.json there.json

echo 'an input too'
cp q.npy mounted.npy
touch input.npy
mount --bind mounted.npy input.npy
status sdpa -q input.npy -k q.npy -v q.npy -o input.npy
status sdpa compare mounted.npy <(sdpa -q q.npy -k q.npy -v q.npy) --bitwise

echo 'a full disk'
{ npy '<f4' '(8192, 1)' && head -c 32768 /dev/zero; } >long.npy
mount -t tmpfs -o size=16k tmpfs disk
echo old >disk/o.bin
touch o.bin
mount --bind disk/o.bin o.bin
status sdpa -q long.npy -k long.npy -v long.npy -o o.bin --precision float32 2>message
sed 's/sdpa-.*/sdpa-.../' message >&2
kept=$(grep -o '\./\.sdpa-.*' message)
cmp "$kept" <(tail -c +129 long.npy) && rm "$kept"
ls -A
END
