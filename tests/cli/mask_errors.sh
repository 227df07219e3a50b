# One line with the place and both values, and no output.
cat >case.json <<'END'
{"q": [[1], [2]], "k": [[0], [0], [1]], "v": [[3], [6], [100]]}
END
bad() {
  status sdpa case.json -o out.npy "$@"
}
bad --causal
bad --window 3
bad --window a,b
bad --window=-1,0
bad --align top-left
bad --align middle --causal
bad --key-lengths 4
bad --key-lengths=-1
bad --key-lengths 1,2
echo '[[true, false], [true, true], [true, true]]' >transposed.json
bad --mask transposed.json
echo '[[0, 1, 1]]' >numbers.json
bad --mask numbers.json
bad --mask-true ignore
echo '[[true, true, true]]' >truths.json
bad --bias truths.json
bad --causal --align -1 --empty-rows error
sed 's/}$/, "causal": true}/' case.json >causal.json
status sdpa causal.json --causal -o out.npy
sed 's/}$/, "causal": 2}/' case.json >two.json
status sdpa two.json -o out.npy
sed 's/}$/, "dropout": 0.1}/' case.json >dropout.json
sdpa dropout.json  # with a warning
status sdpa -q truths.json -k truths.json -v truths.json
status sdpa mask
status sdpa mask --shape 8
ls
