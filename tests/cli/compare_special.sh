# NaN, infinities and signs of zero, in the text and as JSON.
npy '<f4' '(3,)' '\0\0\300\177' '\0\0\200\177' '\0\0\0\200' >mine.npy
npy '<f4' '(3,)' '\0\0\300\177' '\0\0\200\077' '\0\0\0\0' >golden.npy
status sdpa compare mine.npy golden.npy --nan-equal --atol 1e30
status sdpa compare mine.npy golden.npy | head -n 1
status sdpa compare golden.npy golden.npy --nan-equal | head -n 1
status sdpa compare golden.npy golden.npy --bitwise | head -n 1
status sdpa compare mine.npy golden.npy --json | tr -d ' \n'; echo
