#!/usr/bin/env bash
# An optional git hook: rejects a commit if clang-format would change its C++ and
# proto files, or if shellcheck warns of its scripts. It applies the rules of
# tests/format to the files of the commit. To install it:
#
#   ln -s ../../tools/pre-commit.sh .git/hooks/pre-commit
#
# `git commit --no-verify` goes past it.

set -euo pipefail

cd "$(git rev-parse --show-toplevel)"

# changed PATTERN...: prints the added and changed files of the commit, each
# ended by a null byte.
changed() {
  git diff --cached --name-only --diff-filter=ACMR -z -- "$@"
}

status=0

mapfile -d '' -t sources < <(changed '*.cc' '*.h' '*.proto')
if ((${#sources[@]} > 0)); then
  if ! clang-format-19 --style=file --dry-run -Werror "${sources[@]}"; then
    echo "mend with: clang-format-19 --style=file -i FILE, then git add" >&2
    status=1
  fi
fi

mapfile -d '' -t scripts < <(changed '*.sh' bin/tara bin/test .ci/run)
if ((${#scripts[@]} > 0)); then
  shellcheck --severity=warning --external-sources "${scripts[@]}" || status=1
fi

exit "${status}"
