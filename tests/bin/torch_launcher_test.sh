#!/usr/bin/env bash
# Tests the launcher of an archive of `bin/release --torch`, with a program that
# prints what it gets, and with Pythons that find several PyTorches.

set -euo pipefail

launcher="${PWD}/tools/torch_launcher.sh"
cd "${TEST_TMPDIR}"
mkdir -p archive/lib
sed 's/@TORCH@/2.11.0 for CUDA 13/' "${launcher}" >archive/tara
cat >archive/lib/tara <<'EOF'
#!/bin/sh
echo "arguments: $*"
echo "libraries: ${LD_LIBRARY_PATH}"
echo "root: ${TARA_ROOT}"
EOF
chmod +x archive/tara archive/lib/tara

# torch_with LINE...: makes site/torch a PyTorch whose version.py has the lines.
torch_with() {
  mkdir -p site/torch/lib site/nvidia/cu13/lib site/nvidia/nccl/lib
  # The launcher must not load it, which takes seconds.
  echo 'raise Exception("imported")' >site/torch/__init__.py
  printf '%s\n' "$@" >site/torch/version.py
}

# A Python that finds nothing but what is in site.
python="${PWD}/python"
cat >"${python}" <<EOF
#!/bin/sh
PYTHONPATH="${PWD}/site" exec "$(command -v python3)" -S "\$@"
EOF
chmod +x "${python}"

# expect STATUS TEXT...: starts the launcher; its output has the texts.
expect() {
  local status=0 text
  TARA_PYTHON="${python}" LD_LIBRARY_PATH=/own \
    archive/tara train x.textproto >output 2>&1 || status=$?
  for text in "${@:2}"; do
    if [[ "${status}" != "$1" ]] || ! grep -qF "${text}" output; then
      echo "expected status $1 and '${text}'; got ${status}:"
      cat output
      exit 1
    fi
  done
}

expect 1 "${python} has no PyTorch" 'needs PyTorch 2.11.0 for CUDA 13.' \
  'pip install torch==2.11.0'

torch_with "from typing import Optional" "__version__ = '2.11.0+cu130'" \
  "cuda: Optional[str] = '13.0'"
expect 0 'arguments: train x.textproto' "root: ${PWD}/archive" \
  "libraries: ${PWD}/site/torch/lib:${PWD}/site/nvidia/cu13/lib:${PWD}/site/nvidia/nccl/lib:/own"

torch_with "__version__ = '2.11.0+cu128'" "cuda = '12.8'"
expect 1 'has PyTorch 2.11.0 for CUDA 12' 'needs PyTorch 2.11.0 for CUDA 13.'
torch_with "__version__ = '2.8.0a0'" "cuda = None"
expect 1 'has PyTorch 2.8.0a0'

python=no-such-python
expect 1 'there is no no-such-python' 'needs PyTorch 2.11.0 for CUDA 13.'
