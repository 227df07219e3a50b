# What differs, where, by how much, and which tolerance allows it.
echo '[[1, 2, 3], [4, 5, 6]]' >golden.json
echo '[[1, 2, 3], [4, 5.5, 7]]' >mine.json
status sdpa compare golden.json golden.json
status sdpa compare mine.json golden.json
status sdpa compare mine.json golden.json --atol 0.5
status sdpa compare mine.json golden.json --atol 1
status sdpa compare mine.json golden.json --rtol 0.2 | head -n 1
status sdpa compare mine.json golden.json --atol 0.5 --rtol 0.1 | head -n 1
status sdpa compare mine.json golden.json --max-ulp 1 | head -n 1
