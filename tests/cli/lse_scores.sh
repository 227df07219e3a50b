# --lse and --scores: what stands in them, which type they have, and what is refused.
cat >case.json <<'END'
{"q": [[0], [2]], "k": [[1], [2], [3]], "v": [[1], [2], [4]]}
END
sdpa case.json -o out.json --lse lse.json --scores scores.json
cat lse.json scores.json
echo 'with float32, causal: the first row sees one key'
sdpa case.json --dtype float32 --causal --align top-left -o out.json --lse lse.npy --scores scores.npy
sdpa compare lse.npy <(echo '[0, 4.126928]'):float32 --bitwise
sdpa compare scores.npy scores.npy
echo 'hidden keys: the scaled scores are all there'
sdpa case.json --causal --align top-left --scores scores.json --scores-after scale -o out.json
cat scores.json
echo 'a row that sees nothing is -inf, whatever stands in its output'
sdpa case.json --key-lengths 0 --empty-rows mean -o out.json --lse lse.npy
sdpa compare lse.npy lse.npy
echo 'heads, in another layout'
sdpa -q $data/example/sentence/layer1/q.npy -k $data/example/sentence/layer1/k.npy -v $data/example/sentence/layer1/v.npy \
  -o out.npy --lse lse.npy --scores scores.npy --weights weights.npy
sdpa compare lse.npy lse.npy
sdpa compare scores.npy scores.npy | sed -n 2p
echo 'packed sequences: heads before all queries'
echo '[[[0.6931471805599453]], [[0]], [[5]]]' >q.json
echo '[[[1]], [[0]], [[7]]]' >k.json
echo '[0, 2, 3]' >cu.json
packed() { sdpa -q q.json -k k.json -v k.json --layout thd --cu-seqlens-q cu.json --cu-seqlens-k cu.json -o out.json "$@"; }
packed --lse lse.json
cat lse.json
echo 'layout thd: heads before queries'
sdpa -q q.json -k k.json -v k.json --layout thd -o out.json --lse lse.json --scores scores.json
cat lse.json scores.json
echo 'refused'
status packed --scores scores.json
status sdpa case.json --scores-after scale
status sdpa case.json --lse a.npy --scores a.npy
status sdpa case.json --lse
status sdpa case.json --key-lengths 0 -o out.json --lse lse.json
