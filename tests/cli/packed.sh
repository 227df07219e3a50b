# Two sequences packed behind one another: of two queries and two keys, and of one query and one key.
echo '[[[0.6931471805599453]], [[0]], [[5]]]' >q.json
echo '[[[1]], [[0]], [[7]]]' >k.json
echo '[[[3, 0]], [[0, 6]], [[1, 2]]]' >v.json
echo '[0, 2, 3]' >cu.json
packed() { sdpa -q q.json -k k.json -v v.json --layout thd --cu-seqlens-q "$1" --cu-seqlens-k "$2" "${@:3}"; }
echo 'each sequence alone:'
packed cu.json cu.json
echo 'causal:'
packed cu.json cu.json --causal
echo 'the first has no query, the last no key:'
echo '[0, 0, 1, 3]' >cu_q.json
echo '[0, 1, 3, 3]' >cu_k.json
packed cu_q.json cu_k.json
sdpa -q q.json -k k.json -v v.json --layout thd --cu-seqlens-q cu_q.json --cu-seqlens-k cu_k.json --verbose >/dev/null
echo 'log-sum-exps (H, total): ln 3, ln 2, and 35; ln of 1 + 128, none, none'
packed cu.json cu.json -o o.json --lse lse.json && cat lse.json
packed cu_q.json cu_k.json -o o.json --lse lse.bin && od -An -t f8 lse.bin
echo 'offsets as int32:'
npy '<i4' '(3,)' '\0\0\0\0' '\2\0\0\0' '\3\0\0\0' >cu.npy
packed cu.npy cu.json -o o.json && packed cu.json cu.json | cmp - o.json
echo 'check:'
sdpa check o.json -q q.json -k k.json -v v.json --layout thd --cu-seqlens-q cu.json --cu-seqlens-k cu.json | head -1

echo 'a case file with members spelled as the options:'
case_with() { echo "{\"q\": $(cat q.json), \"k\": $(cat k.json), \"v\": $(cat v.json), $1}" >case.json; }
case_with '"layout": "thd", "cu_seqlens_q": [0, 2, 3], "cu_seqlens_k": [0, 2, 3], "causal": true'
sdpa case.json
case_with '"heads": 1'
sdpa case.json --verbose -o o.json
status sdpa case.json --layout thd
status sdpa case.json --heads 1
case_with '"layout": "dht"'
status sdpa case.json
case_with '"layout": "thd", "cu-seqlens-q": [0, 3]'
status sdpa case.json

status packed cu_q.json cu_k.json --causal
packed cu_q.json cu_k.json --causal --align bottom-right
packed cu_q.json cu_k.json -o o.json
sdpa check o.json -q q.json -k k.json -v v.json --layout thd --cu-seqlens-q cu_q.json --cu-seqlens-k cu_k.json | grep -E "bound|judge"
for offsets in '[1, 3]' '[0, 2, 1, 3]' '[0, 2]' '[0, 4]' '[0, 1, 2, 3]' '[0, 1.5, 3]' '[[0, 3]]' '[]' '[true, false]'; do
  echo "$offsets" >bad.json
  status packed bad.json cu.json
  status packed cu.json bad.json
done
status sdpa -q q.json -k k.json -v v.json --layout thd --cu-seqlens-q cu.json
status sdpa -q q.json -k k.json -v v.json --layout thd --cu-seqlens-k cu.json
status sdpa -q q.json -k k.json -v v.json --cu-seqlens-q cu.json --cu-seqlens-k cu.json
status packed cu.json cu.json -w w.json
status packed cu.json cu.json --scores s.json
status packed cu.json cu.json -k k.json
status packed cu.json cu.json -v v.json
status packed cu.json cu.json --key-lengths 1
status packed cu.json cu.json --bias q.json
echo '[[true]]' >mask.json
status packed cu.json cu.json --mask mask.json
