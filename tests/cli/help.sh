# The help is on standard output, in 80 columns; it wins over what else is wrong, and a full disk is not success.
sdpa --help
sdpa --help --no-such-option >again
sdpa --help | cmp - again
sdpa -h --dtype | cmp - again
sdpa compare --help
sdpa check -h
for command in '' compare check; do
  sdpa $command --help | awk 'length > 80 {print "too long: " $0}'
  sdpa $command -V | cmp - <(sdpa --version)
done
status sdpa --help >/dev/full
