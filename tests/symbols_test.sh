#!/usr/bin/env bash
# Objects compiled for a newer processor define nothing that the linker could hand to everyone: what
# other objects see of them lies in the namespace sdpa::kernel::NAME of their instruction set. (An
# inline function or a template of another namespace would be a weak symbol, of which the linker
# keeps any one copy.)
#
# Usage: symbols_test.sh COMPILER NAME=OBJECT...
set -euo pipefail

# A regular expression for the beginning of mangled names in the namespace of instruction set $1: of
# functions and variables, of members, and of what is local to a function. (Readable names of
# templates begin with the type that they return.)
mangled_namespace() {
  printf '_Z(GV)?[NKZ]+4sdpa6kernel%d%s' ${#1} "$1"
}

# Prints each symbol that object $2 defines for others outside the namespace of instruction set $1;
# returns whether there is one. The types that sanitizers describe are data and may be anybody's.
violations() {
  nm --defined-only --extern-only "$2" | awk -v inside="^$(mangled_namespace "$1")" '
    NF < 3 || $3 ~ /^_ZT[IS]/ { next }
    $3 !~ inside { print; found = 1 }
    END { exit !found }' | c++filt
}

# Whether an object defines any symbol in the namespace at all, that is, is the one it is called.
has_own_symbols() {
  nm --defined-only --extern-only "$2" | grep -E " $(mangled_namespace "$1")" >/dev/null
}

# The check itself must see a violation, and only that.
self_check() {
  local compiler=$1 folder wrong
  folder=$(mktemp -d)
  trap 'rm -r "$folder"' RETURN
  local good='namespace sdpa::kernel::avx2 {
                extern const int table = 1;
                inline int f() { return 1; }
                int (*pointer)() = f;
                template <class Number> Number g() { return 1; }
                template int g<int>();
                template <class Number> int h(Number x) {
                  auto lambda = [](auto y) { static Number z = y; return z++; };
                  return lambda(x);
                }
                template int h<int>(int);
              }
              static int local() { return 2; }
              namespace { int hidden() { return local(); } }
              namespace sdpa::kernel::avx2 { int (*other)() = hidden; }'
  compile() { "$compiler" -std=c++20 -O0 -x c++ -c -o "$folder/$1" - <<<"$2"; }

  compile good.o "$good"
  if violations avx2 "$folder/good.o"; then
    echo "self-check: symbols inside the namespace were refused"
    return 1
  fi
  for wrong in \
    'namespace sdpa::kernel { inline int f() { return 1; } int (*avx2_pointer)() = f; }' \
    'template <class T> int f() { return sizeof(T); } template int f<int>();' \
    'namespace sdpa::kernel::avx512 { inline int f() { return 1; } int (*pointer)() = f; }' \
    'extern "C" int avx2() { return 1; }' \
    'namespace sdpa { inline int number = 1; int* address() { return &number; } }'; do
    compile wrong.o "$good $wrong"
    if ! violations avx2 "$folder/wrong.o" >/dev/null; then
      echo "self-check: nothing was found in: $wrong"
      return 1
    fi
  done
}

compiler=$1
shift
self_check "$compiler"
status=0
for pair in "$@"; do
  name=${pair%%=*} object=${pair#*=}
  if ! has_own_symbols "$name" "$object"; then
    echo "$object has no symbols of $name"
    status=1
  elif violations "$name" "$object"; then
    echo "$object lets others see these symbols outside sdpa::kernel::$name"
    status=1
  fi
done
exit $status
