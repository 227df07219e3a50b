sdpa --version
status sdpa --version >/dev/full
status sdpa --version >&-
