# A tie among the keys that a query sees, though all keys have equal scores and another mean.
echo '{"q": [[1], [1], [1], [1]], "k": [[1], [1], [1], [1]], "v": [[2], [0.0009765625], [8], [8]]}' > case.json
sdpa case.json --causal --dtype float16
