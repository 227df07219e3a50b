# The output of a transformer on a padded batch, by lengths or by its bias; not without either.
batch=$data/example/batch/layer0
inputs="-q $batch/q.npy -k $batch/k.npy -v $batch/v.npy"
status sdpa check $batch/peer_output.npy $inputs --key-lengths 5,11,22 | grep -v output
status sdpa check $batch/peer_output.npy $inputs --bias $batch/bias.npy | head -n 1
status sdpa check $batch/peer_output.npy $inputs | head -n 1

# Cases after reports: what is right is within, what a faulty kernel wrote is outside.
both() {
  case=$data/reports/$1
  shift
  for file in right wrong; do
    status sdpa check $case/$file.npy -q $case/q.npy -k $case/k.npy -v $case/v.npy "$@" | head -n 1
  done
}
both causal-cached-suffix --causal --align bottom-right
both cross-attention-padding --mask $data/reports/cross-attention-padding/mask.npy
both window-off-by-one --window 2,0 --align top-left

# Rows behind their length are neither counted nor judged; those that see no key are exactly 0, NaN,
# or near the mean.
echo '[[1], [2], [0]]' >q.json; echo '[[3], [6], [9]]' >v.json
inputs='-q q.json -k q.json -v v.json'
sdpa $inputs --query-lengths 2 >o.json
status sdpa check o.json $inputs --query-lengths 2 | head -n 1
sed 's/ 0/ 77/' o.json >behind.json
status sdpa check behind.json $inputs --query-lengths 2 | head -n 1
for rule in zero mean nan; do
  sdpa $inputs --key-lengths 0 --empty-rows $rule -o o.npy 2>/dev/null
  status sdpa check o.npy $inputs --key-lengths 0 --empty-rows $rule | head -n 1
done
echo '[[0], [0], [1e-300]]' >o.json
status sdpa check o.json $inputs --key-lengths 0 | head -n 1
