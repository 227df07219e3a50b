# How far a run of more than a second is stands in one line on standard error, and is gone at the end. The run
# is slow because nobody reads its weights for a while, and long enough that they do not fit into the pipe.
rows=20000
for input in q v; do
  npy '<f4' "($rows, 1)" >$input.npy
  head -c $((4 * rows)) /dev/zero >>$input.npy
done
npy '<f4' '(2, 1)' '\0\0\0\0' '\0\0\0\0' >two.npy
run='sdpa -q q.npy -k two.npy -v two.npy -o out.npy -w w.npy --threads 1'
mkfifo w.npy
read_late() { (exec 3<w.npy && sleep "$1" && cat <&3 >weights) & }

# What a terminal holds in the end of what was written to it: only the last of what stood in a line.
lines_shown() { tr '\r' '\n' <"$1" | sed 's/ *$//; /^$/d'; }
expect_line() {
  lines_shown "$1" | grep -Eqx '[0-9]+ of 20000 rows \([0-9]+ %\), [0-9.]+ rows/s, [0-9]+:[0-9][0-9] left' ||
    echo "no progress in $1"
}
expect_erased() { # The last thing between two returns is blank.
  tail -c 200 "$1" | tr '\r' '|' | grep -Eq 'left *\| {20,}\|$' || echo "not erased in $1"
}

read_late 1.3
$run --progress always 2>file
wait
expect_line file
expect_erased file

echo 'without a terminal, asked for nothing or for never:'
for option in '' '--progress auto' '--progress never'; do
  read_late 1.3
  $run $option
  wait
done

read_late 1.3
script -qec "$run" /dev/null >terminal </dev/null
wait
expect_line terminal
expect_erased terminal

echo 'on a terminal, but never, or done within a second, or with the output on it:'
read_late 1.3
script -qec "$run --progress never" /dev/null </dev/null
wait
script -qec "sdpa $data/example/case.json -o small.npy" /dev/null </dev/null
read_late 1.3
script -qec "${run/out.npy/-}" /dev/null </dev/null | grep -c left
wait
