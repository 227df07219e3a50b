# A real bash completes commands, options, their choices and types, and files.
sdpa --generate bash >completions
source ./completions
touch query.npy queries.npy
propose() {
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _sdpa
  printf '%s\n' "${COMPREPLY[@]}" | sort | xargs
}
propose sdpa ch
propose sdpa --prec
propose sdpa --precision float
propose sdpa --layout = t
propose sdpa check out.npy --prec
propose sdpa --dtype b
propose sdpa -q quer
propose sdpa compare quer
complete -p sdpa
