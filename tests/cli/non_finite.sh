# Values that are not finite are written; one warning for each result counts them and names the first.
zero='\0\0\0\0' one='\0\0\200\077' nan='\0\0\300\177' inf='\0\0\200\177' minus_inf='\0\0\200\377'
say() { echo "$1" && echo "$1" >&2; }
attend() {
  status sdpa -q q.npy -k k.npy -v v.npy -o out.bin -w w.bin
  od -An -v -tf4 -w8 out.bin | tr -s ' '
  od -An -v -tf4 -w8 w.bin | tr -s ' '
}

say 'a NaN in row 2 of q, an infinity in column 1 of v'
npy '<f4' '(3, 1)' $zero $zero $nan >q.npy
npy '<f4' '(2, 1)' $one $zero >k.npy
npy '<f4' '(2, 2)' $one $inf $zero $zero >v.npy
attend

say 'a score of -inf beside a finite one'
npy '<f4' '(1, 1)' $one >q.npy
npy '<f4' '(2, 1)' $minus_inf $zero >k.npy
npy '<f4' '(2, 1)' $zero $one >v.npy
attend

say 'a score of +inf, in the second of two heads'
npy '<f4' '(2, 1, 1)' $one $one >q.npy
npy '<f4' '(2, 1, 1)' $one $inf >k.npy
npy '<f4' '(2, 1, 1)' $one $one >v.npy
attend

say 'too large for float16'
echo '{"q": [[0]], "k": [[0]], "v": [[1, 1e6, -1e6]]}' | status sdpa - --dtype float16 -o out.npy
