# A pipe that gives its bytes one by one, a FIFO and process substitution are files like any other.
while IFS= read -rn1 c; do printf '%s' "${c:-$'\n'}"; done <"$data"/example/case.json | sdpa -
mkfifo k
cat "$data"/example/k.npy >k &
sdpa -q <(cat "$data"/example/q.npy) -k k -v <(cat "$data"/example/v.json)
