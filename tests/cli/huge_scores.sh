# Scores of 1e30 and -1e30: the larger takes all; two equal ones share.
echo '{"q": [[1e30]], "k": [[1], [-1]], "v": [[3], [5]]}' | sdpa -
echo '{"q": [[-1e30]], "k": [[1], [-1]], "v": [[3], [5]]}' | sdpa -
echo '{"q": [[1e30]], "k": [[1], [1]], "v": [[3], [5]]}' | sdpa -
