# What the data do not show is no judgement if the check is strict.
layer=$data/example/sentence/layer1_head0
inputs="-q $layer/q.npy -k $layer/k.npy -v $layer/v.npy"
status sdpa check $layer/peer_output.npy $inputs --strict | head -n 1
# Scores above 88 show that a maximum is missing; all that a strict check needs is rejected then.
echo '[[1000, 0], [0, 1], [1, 1]]' >q.json; echo '[[2, 0], [0, 2], [1, 1.9]]' >k.json
echo '[[1, 2], [3, 5], [8, 13]]' >v.json
sdpa -q q.json -k k.json -v v.json >o.json
status sdpa check o.json -q q.json -k k.json -v v.json --strict | grep -e bound: -e judgement -e also

# A map of the errors in units of the bound, as the output lies, and of where they are.
echo '[[[0.6931471805599453], [0]], [[0], [0]]]' >q.json; echo '[[1], [0]]' >k.json
echo '[[3, 0], [0, 6]]' >v.json
echo '[[[2, 2], [1.5, 3]], [[1.5, 3], [1.75, 2]]]' >o.json
status sdpa check o.json -q q.json -k k.json -v v.json --error-map map.json | sed -n '/pattern/,/also/p'
sed 's/, [1-9][0-9.]*e*+*[0-9]*/, large/g; s/\[[1-9][0-9.e+]*/[large/g' map.json
status sdpa check o.json -q q.json -k k.json -v v.json --error-map - 2>&1 | head -n 1
