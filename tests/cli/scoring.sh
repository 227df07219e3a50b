# Scales, caps and sinks: as options and as members of a case file.
cat >case.json <<'E'
{"q": [[1, 2], [-2, 0.5]], "k": [[0, 1], [1, 0], [1, 1]], "v": [[3], [6], [100]]}
E
sdpa case.json --scale 0
sdpa case.json --scale '1/sqrt(2)' >root.json
sdpa case.json | cmp - root.json
sdpa case.json --scale=-0.5
# Scores of infinity become the cap, and with it finite.
npy '<f8' '(2, 1)' '\0\0\0\0\0\0\360\177\0\0\0\0\0\0\0\0' >k.npy
echo '[[1]]' >q.json
echo '[[1], [0]]' >v.json
sdpa -q q.json -k k.npy -v v.json --softcap 2
# A weight of 1/2 for a sink that is as large as the only score; a row that sees no key is 0.
echo '[[0], [0]]' >zeros.json
echo '[[1], [3]]' >values.json
sdpa -q zeros.json -k zeros.json -v values.json --sinks 0 --causal -w weights.json --verbose
cat weights.json
sdpa -q zeros.json -k zeros.json -v values.json --sinks 0 --window 0,0 --key-lengths 1 --align 0 --verbose
# The sum of the numerators is 1 + 2 e^0, then 1 alone.
sdpa -q zeros.json -k zeros.json -v values.json --sinks 0 --lse lse.json -o out.json && cat lse.json
sdpa -q zeros.json -k zeros.json -v values.json --sinks=-3 --scale 4 --softcap 5 --verbose -o out.json
# Of each head its own.
echo '[[[0]], [[0]]]' >heads.json
echo '[[[4]], [[4]]]' >fours.json
echo '[0, -1e300]' >sinks.json
sdpa -q heads.json -k heads.json -v fours.json --sinks sinks.json --verbose
sed 's/}$/, "sinks": [0.5], "softcap": 3, "scale": "1\/sqrt(7)"}/' case.json >further.json
sdpa further.json --verbose

# Bad input: one line with the place and the value.
bad() {
  status sdpa case.json -o out.npy "$@"
}
bad --scale abc
bad --scale nan
bad --scale inf
bad --scale '1/sqrt(x)'
bad --scale '1/sqrt(0)'
bad --scale 1e99f
bad --softcap 0
bad --softcap=-1
bad --softcap inf
bad --sinks missing.npy
bad --sinks sinks.json
echo '[true]' >truth.json
bad --sinks truth.json
status sdpa further.json --scale 2 -o out.npy
status sdpa -q heads.json -k heads.json -v fours.json --sinks v.json -o out.npy
[ ! -e out.npy ]
