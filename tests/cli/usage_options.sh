# Options that do not exist, or are given twice, without a value or with a wrong one.
inputs='-q q.npy -k k.npy -v v.npy'
status sdpa $inputs --no-such-option 0.5
status sdpa $inputs -x
status sdpa $inputs -q r.npy
status sdpa case.json --threads 1 --threads 1
status sdpa case.json --dtype
status sdpa $inputs -o
status sdpa $inputs -o ''
status sdpa $inputs --threads x
status sdpa $inputs --threads 1.5
status sdpa $inputs --threads 0
status sdpa $inputs --threads -1
status sdpa $inputs --threads 1000000
status sdpa $inputs --dtype int8
status sdpa $inputs --dtype float31
status sdpa $inputs --precision half
status sdpa $inputs --progress yes
status sdpa $inputs --threads $'\e[31m2\n'
status sdpa $inputs $'--\e[31m'
status sdpa $inputs --dtype fp8
status sdpa $inputs --output= --dtype float32
status sdpa $inputs -o -w w.npy
status sdpa -q -k k.npy -v v.npy
status sdpa $inputs -o=out.npy
status sdpa $inputs --progress
status sdpa compare a.npy b.npy --json=false
ls -A
