# A signal leaves nothing behind. The program is caught after it has opened its output: it waits for
# somebody to read the weights.
cp "$data"/example/case.json .
mkfifo w.npy
echo old >out.npy
before=$(ls -A)
for signal in INT TERM HUP; do
  env --default-signal=$signal sdpa case.json -o out.npy -w w.npy &
  for _ in {1..500}; do
    [[ $(ls -A) == "$before" ]] || break
    sleep 0.01
  done
  [[ $(ls -A) != "$before" ]] || echo 'no temporary file appeared'
  kill -$signal $!
  code=0
  wait $! 2>/dev/null || code=$?
  echo "$signal $code"
  ls -A
done
cat out.npy
