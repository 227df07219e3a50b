# Each option alone, in a case file and on the command line, gives the same.
cat >case.json <<'END'
{"q": [[1], [2], [0]], "k": [[0], [0], [1], [0]], "v": [[3], [6], [100], [9]]}
END
with() {
  sed "s/}\$/, $1}/" case.json | sdpa - --verbose
}
set +x
echo "causal"
sdpa case.json --causal --align top-left --verbose
with '"causal": true, "align": "top-left"'
sdpa case.json --causal --align bottom-right --verbose
sdpa case.json --causal --align -1 --verbose
echo "window"
sdpa case.json --window 1,0 --align 0 --verbose
with '"window": [1, 0], "align": 0'
with '"window": "inf,0", "align": "bottom-right"'
echo "lengths"
sdpa case.json --key-lengths 2 --verbose
with '"key_lengths": [2], "query-lengths": 2'
echo "arrays"
with '"mask": [true, true, false, true]'
echo '[true, true, false, true]' >mask.json
sdpa case.json --mask mask.json --verbose
sdpa case.json --mask mask.json --mask-true ignore --verbose
npy '|b1' '(4,)' '\1\1\0\1' >mask.npy
sdpa case.json --mask mask.npy
printf '\1\1\0\1' >mask.bin
sdpa case.json --mask mask.bin:bool:1x4
npy '<f4' '(3, 1)' '\0\0\0\0' '\0\0\200\377' '\0\0\0\0' >bias.npy
sdpa case.json --bias bias.npy --verbose
sdpa case.json --bias bias.npy --empty-rows mean
with '"bias": [0, 1, 0, 1]'
sdpa case.json --bias bias.npy -w weights.json -o out.json 2>/dev/null && cat weights.json
