# The help is one screen on standard output; it wins over what else is wrong, and a full disk is not success.
sdpa --help
sdpa --help --no-such-option >again
sdpa --help | cmp - again
sdpa --help | awk 'length > 80 {print "too long: " $0} END {if (NR > 24) print "too many lines: " NR}'
status sdpa --help >/dev/full
