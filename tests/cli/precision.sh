# Each kind of arithmetic gives the easy result.
for precision in exact float64 float32; do
  echo '{"q": [[0]], "k": [[1], [2]], "v": [[1], [2]]}' | sdpa - --precision $precision
done
