# A signal that ends the program leaves nothing behind, whichever it is. The program is caught after it has
# opened its output: it waits for somebody to read the weights.
ulimit -c 0
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0
cp "$data"/example/case.json .
mkfifo w.npy
echo old >out.npy
before=$(ls -A)
wait_for_temporary_file() {
  for _ in {1..500}; do
    [[ $(ls -A) == "$before" ]] || return 0
    sleep 0.01
  done
  echo 'no temporary file appeared'
}
for signal in HUP INT QUIT ILL TRAP ABRT BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM PROF IO PWR SYS RTMIN RTMAX; do
  env --default-signal=$signal sdpa case.json -o out.npy -w w.npy &
  wait_for_temporary_file
  kill -$signal $!
  code=0
  wait $! 2>/dev/null || code=$?
  echo "$signal $((code - 128))"
  [[ $(ls -A) == "$before" ]] || ls -A
done
cat out.npy

echo 'a signal that is ignored ends nothing'
env --ignore-signal=USR1 --ignore-signal=BUS sdpa case.json -o out.npy -w w.npy &
wait_for_temporary_file
kill -USR1 $!
kill -BUS $!
cat w.npy >/dev/null
wait $!
sdpa compare out.npy <(echo '[[2, 2], [1.5, 3]]') | head -n 1
ls -A
