#!/usr/bin/env bash
# Tests the build with PyPI's LibTorch:
#
#   tools/test_torch.sh VERSION [TARGET...]
#
# Installs torch VERSION (such as 2.11.0) with CUDA's libraries and headers into
# .tara/torch/VERSION, unless it is there. Then builds and runs the tests of
# LibTorch, networks and training, or those of the targets, and a short
# `tara bench selfplay`. A GPU is not needed. Takes 7 GB of disk per version; the
# first build takes as long as one from nothing.

# shellcheck source-path=SCRIPTDIR source=../bin/lib.sh
source "$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")/bin/lib.sh"

case "${1:-}" in
  --help | -h)
    sed -n '2,/^$/{s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    exit
    ;;
  [0-9]*.[0-9]*) ;;
  *)
    tara_say "expected a version of torch, such as 2.11.0, got '${1:-}'"
    exit 2
    ;;
esac
readonly version="$1"
shift
readonly venv="${TARA_ROOT}/.tara/torch/${version}"

tara_install_packages python
if [[ ! -f "${venv}/installed" ]]; then
  tara_say "installing torch ${version} into ${venv}"
  "${TARA_PYTHON}" -m venv --clear "${venv}"
  "${venv}/bin/pip" install --quiet --disable-pip-version-check \
    "torch==${version}" >&2
  # The compiler's part of CUDA's headers, of the same version of CUDA.
  cuda="$(sed -n "s/^cuda.* = '\(.*\)'.*/\1/p" \
    "${venv}"/lib/python3*/site-packages/torch/version.py)"
  case "${cuda}" in
    12.*) headers="nvidia-cuda-nvcc-cu12==${cuda}.*" ;;
    *) headers="cuda-toolkit[crt]==${cuda}.*" ;;
  esac
  "${venv}/bin/pip" install --quiet --disable-pip-version-check \
    "${headers}" >&2
  touch "${venv}/installed"
fi
TARA_TORCH_ROOT="$(echo "${venv}"/lib/python3*/site-packages/torch)"
export TARA_TORCH_ROOT

cd "${TARA_ROOT}"
if (($# == 0)); then
  mapfile -t targets < <(bazel query --noshow_progress \
    'kind(cc_test, rdeps(//tests/nn/... + //tests/train/... + //third_party/torch/..., @torch//:torch))' \
    2>/dev/null)
else
  targets=("$@")
fi
bazel test "${TARA_BAZEL_FLAGS[@]}" --ui_event_filters=-info,-debug \
  --test_output=errors "${targets[@]}"
tara_build
"${TARA_BINARY}" bench selfplay --net 32x4 --sims 16 --games 16 \
  --games-per-thread 8 --seconds 1
tara_say "torch ${version}: built and tested"
