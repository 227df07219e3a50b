# NaN, infinities and signs of zero, in the text and as JSON.
npy '<f4' '(3,)' '\0\0\300\177' '\0\0\200\177' '\0\0\0\200' >mine.npy
npy '<f4' '(3,)' '\0\0\300\177' '\0\0\200\077' '\0\0\0\0' >golden.npy
status sdpa compare mine.npy golden.npy --nan-equal --atol 1e30
status sdpa compare mine.npy golden.npy | head -n 1
status sdpa compare golden.npy golden.npy --nan-equal | head -n 1
status sdpa compare golden.npy golden.npy --bitwise | head -n 1
status sdpa compare mine.npy golden.npy --json | tr -d ' \n'; echo

# Steps to zero, across it or to NaN number in the billions and tell nothing.
echo '[1e-9, 1, 2]' >mine.json
echo '[-1e-9, 1, 2.5]' >golden.json
status sdpa compare mine.json golden.json | sed -n '6,10p'
status sdpa compare mine.json golden.json --json | grep -e across -e 'ulp"'

# Issue 12: the relative difference of equal zeros is 0, not 0/0.
npy '<f4' '(1, 2)' '\0\0\0\200' '\0\0\200\077' >mine.npy
npy '<f4' '(1, 2)' '\0\0\0\0' '\0\0\0\100' >golden.npy
status sdpa compare mine.npy golden.npy --bitwise | grep relative
