# Misuse of compare and check.
inputs='-q q.npy -k k.npy -v v.npy'
status sdpa compare
status sdpa compare a.npy
status sdpa compare a.npy b.npy c.npy
status sdpa compare - -
status sdpa compare a.npy b.npy --max-ulp -1
status sdpa compare a.npy b.npy --max-ulp 1.5
status sdpa compare a.npy b.npy --atol nan
status sdpa compare a.npy b.npy --rtol -1
status sdpa compare a.npy b.npy --atol x
status sdpa compare a.npy b.npy --bitwise --rtol 1
status sdpa compare a.npy b.npy --tolerance 1
status sdpa check $inputs
status sdpa check a.npy -q q.npy -k k.npy
status sdpa check a.npy -q - -k - -v v.npy
status sdpa check a.npy $inputs --arithmetic sums=int8
status sdpa check a.npy $inputs --arithmetic weights=x
for size in 1e-400 1e999 -1e999 0x1p-3 inf +1 ' 1' 1,5 1e; do
  status sdpa compare a.npy b.npy --atol "$size"
done
status sdpa compare a.npy b.npy --max-ulp 99999999999999999999
status sdpa check a.npy $inputs extra.npy
status sdpa check a.npy
status sdpa check a.npy $inputs --arithmetic sums=float32,sums=float16
status sdpa check a.npy $inputs --arithmetic products=int8
status sdpa check a.npy $inputs --arithmetic exp=0
status sdpa check a.npy $inputs --arithmetic exp=2
status sdpa check a.npy $inputs --arithmetic step=2^x
status sdpa check a.npy $inputs --arithmetic float32
