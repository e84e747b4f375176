#!/usr/bin/env bash
# Compiles core, search and networks to WebAssembly: web/.build/wasm/tara_core.mjs
# and .wasm, also packed for the page. Compiles only what changed, takes what was
# compiled before from a cache in the user's folder, and prints nothing if there
# is nothing to do.

# shellcheck source-path=SCRIPTDIR source=../../bin/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../bin/lib.sh"

# The sources of Abseil as in Debian 12, on whatever system: its libraries are
# not for WebAssembly.
readonly VERSION=20220623.1
readonly URL="http://deb.debian.org/debian/pool/main/a/abseil/abseil_${VERSION}.orig.tar.gz"
readonly SHA256=abfe2897f3a30edaa74bc34365afe3c2a3cd012091a97dc7e008f7016adcd5fe
readonly OUT=web/.build
readonly ABSEIL="${OUT}/abseil-${VERSION}"
readonly RESULTS=(tara_core.mjs tara_core.wasm{,.gzip})
# Of what was compiled, by its sources: so many, each of a megabyte.
readonly CACHE="${XDG_CACHE_HOME:-${HOME}/.cache}/tara-wasm"
readonly MOST_CACHED=20

fetch_abseil() {
  if [[ -d "${ABSEIL}" ]]; then
    return
  fi
  tara_say "fetching the sources of Abseil ${VERSION} from Debian"
  local archive="${OUT}/abseil.tar.gz"
  # apt's own client knows the proxies of the machine, and checks the sum. It
  # warns of folders that only root can read.
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

# Prints what the results depend on, as one number.
key_of_sources() {
  {
    dpkg-query --show --showformat='${Package} ${Version}\n' emscripten \
      2>/dev/null || em++ --version
    find tara/{base,core,mcts,nn,eval/rating} web/wasm -type f ! -name BUILD \
      -print0 | sort -z | xargs -0 sha256sum
  } | sha256sum | cut -c1-32
}

has_results() {
  local result
  for result in "${RESULTS[@]}"; do
    [[ -f "$1/${result}" ]] || return 1
  done
}

# copy_results FROM TO: all of them, or none.
copy_results() {
  mkdir -p "$(dirname "$2")"
  local partial
  partial="$(mktemp -d "$2.XXXXXX")"
  cp "${RESULTS[@]/#/$1/}" "${partial}/"
  mkdir -p "$2"
  mv "${RESULTS[@]/#/${partial}/}" "$2/"
  rmdir "${partial}"
}

compile() {
  fetch_abseil
  # Emscripten's own modules of Node.js are Debian's, wherever node comes from.
  export NODE_PATH="/usr/share/nodejs${NODE_PATH:+:${NODE_PATH}}"
  tara_say "compiling to WebAssembly (the first time takes some minutes)"
  make --silent --file=web/wasm/Makefile --jobs="$(nproc)" \
    OUT="${OUT}/wasm" ABSEIL="${ABSEIL}" >&2
  gzip -9nc "${OUT}/wasm/tara_core.wasm" >"${OUT}/wasm/tara_core.wasm.gzip"
}

remember() {
  copy_results "${OUT}/wasm" "${CACHE}/${key}"
  find "${CACHE}" -mindepth 1 -maxdepth 1 -type d -printf '%T@ %p\n' |
    sort -rn | tail -n "+$((MOST_CACHED + 1))" | cut -d' ' -f2- |
    xargs -r -d '\n' rm -r
}

cd "${TARA_ROOT}" || exit 1
mkdir -p "${OUT}/wasm"
key="$(key_of_sources)"
readonly key
readonly BUILT="${OUT}/wasm/built"
if has_results "${OUT}/wasm" && [[ -f "${BUILT}" ]] &&
  [[ "$(<"${BUILT}")" == "${key}" ]]; then
  exit 0
fi
if has_results "${CACHE}/${key}"; then
  copy_results "${CACHE}/${key}" "${OUT}/wasm"
elif command -v em++ >/dev/null; then
  compile
  remember
else
  tara_say "em++ is missing; bin/tara web installs it (Debian's emscripten)"
  exit 1
fi
printf '%s\n' "${key}" >"${BUILT}"
