#!/usr/bin/env bash
# The rooms of src/ include each other only along the arrows
#
#   main -> cli -> io        -> array -> base
#               -> report    -> attention -> exact -> stage -> kernel
#               -> attention
#
# exact, stage, report and attention use array and base too, and attention and exact all that is to their right.
#
# Usage: layering_test.sh PATH_OF_SRC
set -euo pipefail

# What each room may include: itself, and what its arrows reach.
declare -A may_include=(
  [main]="cli io report attention array base"
  [cli]="cli io report attention array base"
  [io]="io array base"
  [report]="report attention array base"
  [attention]="attention exact stage kernel array base"
  [exact]="exact stage kernel array base"
  [stage]="stage kernel array base"
  [kernel]="kernel"
  [array]="array base"
  [base]="base"
)

# Prints each #include "ROOM/..." in the tree that is against the arrows; returns whether there is one.
violations() {
  local src=$1 found=1 file room line included
  while IFS= read -r file; do
    room=${file#"$src"/}
    [[ $room == main.cpp ]] && room=main || room=${room%%/*}
    while IFS= read -r line; do
      [[ $line =~ ^[[:space:]]*#[[:space:]]*include[[:space:]]*\"([^/\"]*)(/|\") ]] || continue
      included=${BASH_REMATCH[1]}
      [[ " ${may_include[$room]-} " == *" $included "* ]] && continue
      printf '%s: %s\n' "$file" "$line"
      found=0
    done <"$file"
  done < <(find "$src" -name '*.cpp' -o -name '*.h' | sort)
  return $found
}

# The check itself must see a violation, and only that.
self_check() {
  local tree
  tree=$(mktemp -d)
  mkdir "$tree/base" "$tree/array" "$tree/kernel"
  echo '#include "base/index.h"' >"$tree/array/shape.h"
  echo '#include "cli/options.h"' >"$tree/main.cpp"
  if violations "$tree"; then
    echo "self-check: allowed includes were refused"
    rm -r "$tree"
    return 1
  fi
  local wrong
  for wrong in 'base/a.h:array/shape.h' 'kernel/b.cpp:base/index.h' 'array/c.cpp:shape.h' \
    'main.cpp:kernel/kernel.h'; do
    printf '#include <vector>\n #  include "%s"\n' "${wrong#*:}" >"$tree/${wrong%:*}"
    if ! violations "$tree" >/dev/null; then
      echo "self-check: ${wrong%:*} may not include ${wrong#*:}, but nothing was found"
      rm -r "$tree"
      return 1
    fi
    rm "$tree/${wrong%:*}"
  done
  rm -r "$tree"
}

self_check
for room in "${!may_include[@]}"; do
  [[ $room == main || -n $(find "$1/$room" -name '*.h') ]] || { echo "there is no $1/$room" && exit 1; }
done
if violations "$1"; then
  echo "these includes are against the arrows between the rooms"
  exit 1
fi
