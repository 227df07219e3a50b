sdpa --version | sed 's/ (.*//'
SDPA_FORCE_ISA=base sdpa --version
export SDPA_FORCE_ISA=8086
status sdpa --version 2>&1 | sed 's/here: .*/here/'
unset SDPA_FORCE_ISA
status sdpa --version >/dev/full
status sdpa --version >&-
