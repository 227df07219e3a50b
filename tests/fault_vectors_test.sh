#!/usr/bin/env bash
# Checks the outputs of kernels with one planted fault each, and prints a table: the case, what was
# planted, what was named. Fails if a fault is not named, its parameter is off by more than 0.1 %, or
# an output is taken for right. Options that check does not take are said.
#
# Usage: fault_vectors_test.sh PATH_OF_SDPA FOLDER
#
# FOLDER has a folder a case: q.npy, k.npy, v.npy, actual.npy, and case.json with the members "fault",
# "parameter" and "options".
set -euo pipefail

sdpa=$(realpath "$1")
failed=0 named=0 cases=0 not_judged=0

# The value of a member in compact JSON: "member NAME", text on standard input.
member() {
  sed -n "s/.*\"$1\":\(\"[^\"]*\"\|\[[^]]*\]\|[^,}]*\).*/\1/p"
}

for folder in "$2"/*/; do
  cd "$folder"
  case=$(tr -d ' \n' <case.json)
  fault=$(member fault <<<"$case" | tr -d '"')
  wanted=$(member parameter <<<"$case")
  read -r -a options < <(member options <<<"$case" | tr -d '[]"' | sed 's/--/ --/g; s/,/ /g')
  # A window is two numbers with a comma, which has gone with the others.
  for i in "${!options[@]}"; do
    if [[ ${options[i]-} == --window ]]; then
      options[i + 1]+=,${options[i + 2]}
      unset "options[i + 2]"
    fi
  done
  status=0
  message=$("$sdpa" check actual.npy -q q.npy -k k.npy -v v.npy "${options[@]}" 2>&1 >/dev/null) || true
  if [[ $message == *"no such option here"* ]]; then
    printf '%-24s %s\n' "$(basename "$folder")" "not judged: $message"
    not_judged=$((not_judged + 1))
    continue
  fi
  report=$("$sdpa" check actual.npy -q q.npy -k k.npy -v v.npy "${options[@]}" --json) || status=$?
  found=$(tr -d ' \n' <<<"$report" | grep -o '{"fault":[^}]*}' || true)
  parameter=$(grep "\"fault\":\"$fault\"" <<<"$found" | member parameter || true)
  verdict=$(awk -v a="$parameter" -v b="$wanted" 'BEGIN {
    close_enough = a + 0 != 0 && a - b <= 1e-3 * (b < 0 ? -b : b) && b - a <= 1e-3 * (b < 0 ? -b : b)
    print (a != "" && (a == b || close_enough)) ? "named" : "NOT NAMED" }')
  [[ $status == 1 && $verdict == named ]] || verdict="NOT NAMED" failed=1
  [[ $verdict != named ]] || named=$((named + 1))
  cases=$((cases + 1))
  printf '%-24s %-24s %-22s %s: %s\n' "$(basename "$folder")" "$fault" "$wanted" "$verdict" \
    "$(member fault <<<"$found" | tr -d '"' | tr '\n' ' ')$parameter"
done
echo "$named of $cases named; $not_judged with options that check does not take"
[[ $cases != 0 ]] || failed=1
exit $failed
