#!/usr/bin/env bash
# Runs Tara with the LibTorch of the PyTorch that python3 imports: the file `tara`
# of an archive of `bin/release --torch`, which enters the version. TARA_PYTHON
# names another Python.

# torch_version_of FOLDER: prints the version of the PyTorch in this folder as
# "2.11.0 for CUDA 13", or as "1.13.0" if it has no CUDA.
torch_version_of() {
  sed -n "s/^__version__ = '\([^'+]*\).*/\1/p
    s/^cuda.* = '\([0-9]*\).*/for CUDA \1/p" "$1/version.py" |
    paste --serial --delimiters=' '
}
# bin/release only needs the functions above.
[[ "${BASH_SOURCE[0]}" == "$0" ]] || return 0

set -euo pipefail

readonly expected="@TORCH@"
here="$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
readonly here
readonly python="${TARA_PYTHON:-python3}"

fail() {
  printf 'tara: %s\n' "$*" >&2
  printf 'This Tara needs PyTorch %s. To install it for Tara alone:\n' \
    "${expected}" >&2
  printf '  python3 -m venv ~/torch && ~/torch/bin/pip install torch==%s\n' \
    "${expected%% *}" >&2
  printf '  export TARA_PYTHON=~/torch/bin/python\n' >&2
  exit 1
}

command -v "${python}" >/dev/null || fail "there is no ${python}"
# Its folder, found as `import torch` does, without loading it.
torch="$("${python}" -c '
import importlib.util
spec = importlib.util.find_spec("torch")
if spec is not None and spec.origin is not None:
    print(spec.origin)
')" && torch="$(dirname "${torch:-/}")"
[[ -f "${torch}/version.py" ]] || fail "$(command -v "${python}") has no PyTorch"
found="$(torch_version_of "${torch}")"
[[ "${found}" == "${expected}" ]] ||
  fail "$(command -v "${python}") has PyTorch ${found}"

# CUDA's libraries are in packages next to PyTorch, each in its own folder.
libraries="${torch}/lib"
for folder in "${torch}"/../nvidia/*/lib; do
  [[ -d "${folder}" ]] && libraries+=":$(readlink -f "${folder}")"
done
export LD_LIBRARY_PATH="${libraries}${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
export TARA_ROOT="${here}"
exec "${here}/lib/tara" "$@"
