# An input that is cut short while it is in use is an error like others. The program is caught when
# it has opened k: it waits for somebody to write v.
mkfifo v
echo old >out.json
{ npy '<f4' '(4000, 1)' && head -c 16000 /dev/zero; } >k.npy
npy '<f4' '(1, 1)' '\0\0\0\0' >q.npy
cp k.npy whole.npy
for words in '-q q.npy -k k.npy -v v -o out.json' 'compare k.npy v' 'check k.npy -q k.npy -k k.npy -v v'; do
  cp whole.npy k.npy
  status sdpa $words &
  exec 8>v
  truncate -s 500 k.npy
  cat whole.npy >&8
  exec 8>&-
  wait
done
cat out.json
ls -A
