mkdir folder
echo '[[1]]' >x.json
status sdpa -q x.json -k absent.npy -v x.json
status sdpa absent/case.json
status sdpa -q folder -k x.json -v x.json
status sdpa $'two\nlines.json'
status sdpa - </dev/null
status sdpa - <&-
: >empty.npy
status sdpa -q x.json -k empty.npy -v x.json
