# The example of two queries and two keys, as one case file and through a pipe.
cp "$data"/example/case.json .
sdpa case.json
sdpa - <case.json
cat case.json | sdpa - -o -
