#!/usr/bin/env bash
# Tests that clang-format 19 would leave all C++ and proto files as they are, and
# that shellcheck warns of nothing in the scripts. Reads the workspace itself, so
# that no new file can be missing.

set -euo pipefail

cd "$(dirname "$(readlink -f "${TEST_SRCDIR}/${TEST_WORKSPACE}/WORKSPACE")")"

# files FIND-EXPRESSION...: prints what is found in the project's own folders,
# each ended by a null byte.
files() {
  find .ci bin examples proto tara tests third_party tools web \
    -name node_modules -prune -o -name .build -prune -o \
    -type f \( "$@" \) -print0
}

status=0

mapfile -d '' -t sources < <(files -name '*.cc' -o -name '*.h' -o \
  -name '*.proto')
echo "clang-format: ${#sources[@]} files"
((${#sources[@]} > 0)) || status=1
# One version everywhere: others put some lines elsewhere.
if ! clang-format-19 --style=file --dry-run -Werror "${sources[@]}"; then
  echo "mend with: clang-format-19 --style=file -i FILE" >&2
  status=1
fi

mapfile -d '' -t scripts < <(files -name '*.sh' -o -path 'bin/*' ! -name BUILD \
  -o -path .ci/run)
echo "shellcheck: ${#scripts[@]} files"
((${#scripts[@]} > 0)) || status=1
shellcheck --severity=warning --external-sources "${scripts[@]}" || status=1

exit "${status}"
