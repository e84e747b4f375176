#!/usr/bin/env bash
# Compiles tara/core and tara/mcts to WebAssembly: web/.build/wasm/tara_core.mjs
# and .wasm. Compiles only what changed, and says nothing if nothing did.

# shellcheck source-path=SCRIPTDIR source=../../bin/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../bin/lib.sh"

# The sources of the libabsl-dev of Debian 12, whose libraries are not for
# WebAssembly.
readonly VERSION=20220623.1
readonly URL="http://deb.debian.org/debian/pool/main/a/abseil/abseil_${VERSION}.orig.tar.gz"
readonly SHA256=abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe
readonly OUT=web/.build
readonly ABSEIL="${OUT}/abseil-${VERSION}"

fetch_abseil() {
  if [[ -d "${ABSEIL}" ]]; then
    return
  fi
  tara_say "fetching the sources of Abseil ${VERSION} from Debian"
  mkdir -p "${OUT}"
  local archive="${OUT}/abseil.tar.gz"
  # apt's own client knows the proxies of the machine, and checks the sum.
  if ! /usr/lib/apt/apt-helper -q download-file "${URL}" "${archive}" \
    "SHA256:${SHA256}" >&2; then
    tara_say "cannot fetch ${URL}"
    exit 1
  fi
  local unpacked
  unpacked="$(mktemp -d "${OUT}/unpack.XXXXXX")"
  tar -xzf "${archive}" -C "${unpacked}"
  mv "${unpacked}/abseil-${VERSION}" "${ABSEIL}"
  rm -r "${unpacked}" "${archive}"
}

cd "${TARA_ROOT}"
if ! command -v em++ >/dev/null; then
  tara_say "em++ is missing; bin/tara web installs it (Debian's emscripten)"
  exit 1
fi
fetch_abseil
# Emscripten's own modules of Node.js are Debian's, wherever node comes from.
export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:${NODE_PATH}}"
if ! make --question --silent --file=web/wasm/Makefile \
  OUT="${OUT}/wasm" ABSEIL="${ABSEIL}" 2>/dev/null; then
  tara_say "compiling to WebAssembly (the first time takes a minute or two)"
fi
make --silent --file=web/wasm/Makefile --jobs="$(nproc)" \
  OUT="${OUT}/wasm" ABSEIL="${ABSEIL}" >&2
