# How far a run of more than a second is stands in one line on the terminal, and is gone at the end. (When it is
# shown, and how, is tested with a clock that is moved: progress_test.cpp.) The run is slow because nobody reads
# its weights for a while, and long enough that they do not fit into the pipe.
rows=20000
for input in q v; do
  npy '<f4' "($rows, 1)" >$input.npy
  head -c $((4 * rows)) /dev/zero >>$input.npy
done
npy '<f4' '(2, 1)' '\0\0\0\0' '\0\0\0\0' >two.npy

# Runs sdpa with the given options on a terminal, and keeps what is written to it.
on_terminal() { # NAME OPTION...
  mkfifo $1.w.npy
  (exec 3<$1.w.npy && sleep 1.1 && cat <&3 >$1.weights) &
  script -qec "sdpa -q q.npy -k two.npy -v two.npy -o $1.npy -w $1.w.npy --threads 1 ${*:2}" /dev/null </dev/null >$1
}
on_terminal shown &
on_terminal never --progress never &
wait

# What the terminal holds in the end of what was written to it: only the last of what stood in a line.
tr '\r' '\n' <shown | sed 's/ *$//; /^$/d' |
  grep -Eqx '[0-9]+ of 20000 rows \([0-9]+ %\), [0-9.]+ rows/s, [0-9]+:[0-9][0-9] left' || cat shown
# The last thing between two returns is blank.
tail -c 200 shown | tr '\r' '|' | grep -Eq 'left *\| {20,}\|$' || echo 'not erased'
cat never
cmp shown.npy never.npy
