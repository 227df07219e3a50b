#!/usr/bin/env bash
# Runs numpy_roundtrip.py with the first python3 that has numpy, or says that there is none (exit 77).
#
# Usage: numpy_roundtrip.sh PATH_OF_SDPA
set -euo pipefail

for python in /usr/bin/python3 python3; do
  if "$python" -c 'import numpy' 2>/dev/null; then
    exec "$python" "$(dirname "$0")/numpy_roundtrip.py" "$1"
  fi
done
echo 'skipped: no python3 with numpy. Debian and Ubuntu: apt-get install python3-numpy'
exit 77
