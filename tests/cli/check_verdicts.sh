# A peer's output is within the bound; with a row damaged, it is not.
layer=$data/example/sentence/layer1_head0
cp "$layer"/[qkv].npy .
cp "$layer"/peer_output.npy mine.npy
inputs='-q q.npy -k k.npy -v v.npy'
status sdpa check mine.npy $inputs >report
sed -n '1,6p' report
grep 'also rejects' report
grep -c 'cannot tell' report

# Row 5 of 13, each of 128 float32 behind a header of 128 bytes.
printf '%512s' '' | tr ' ' '\0' | dd of=mine.npy bs=1 seek=$((128 + 5 * 512)) conv=notrunc status=none
status sdpa check mine.npy $inputs >report
sed -n '1,6p' report
grep pattern report

# Head 0 is right; of head 1, all zeros, float32 cannot tell anything. With a wrong value, it is wrong.
vacuous=$data/check/vacuous_head
inputs="-q $vacuous/q.npy -k $vacuous/k.npy -v $vacuous/v.npy"
status sdpa check $vacuous/o.npy $inputs | head -n 1
status sdpa check $vacuous/v.npy -q $vacuous/v.npy -k $vacuous/v.npy -v $vacuous/v.npy | head -n 1
status sdpa check $vacuous/o.npy $inputs --json | grep -A 2 heads_not_judged

# All NaN where all must be NaN.
all_nan=$data/check/all_nan
status sdpa check $all_nan/o.npy -q $all_nan/q.npy -k $all_nan/k.npy -v $all_nan/v.npy | sed "s#$data#DATA#"

# No value at all.
npy '<f4' '(0, 2)' >q.npy
status sdpa check q.npy -q q.npy -k $data/example/v.npy -v $data/example/v.npy | head -n 1

# A float64 output 0 that is right, as of a padded column.
echo '{"q": [[1, 2]], "k": [[1, 2], [3, 4]], "v": [[1, 0], [1, 0]]}' >case.json
echo '[[1, 2]]' >q.json; echo '[[1, 2], [3, 4]]' >k.json; echo '[[1, 0], [1, 0]]' >v.json
sdpa case.json >o.json
status sdpa check o.json -q q.json -k k.json -v v.json | head -n 1
