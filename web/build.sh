#!/usr/bin/env bash
# Builds what is missing of the page, into web/dist: web/build.sh. With `site`,
# builds the page for a web space into web/.build/site, with the bundle that
# TARA_MODEL names, else the ready-made one; with `package`, the npm package
# web/.build/npm/tara-core-VERSION.tgz.

# shellcheck source-path=SCRIPTDIR source=../bin/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../bin/lib.sh"

readonly WEB="${TARA_ROOT}/web"
# As old as the sources that the page was built from.
readonly STAMP="${WEB}/.build/page_built"

page_up_to_date() {
  [[ -f "${STAMP}" && -f "${WEB}/dist/index.html" ]] || return 1
  local changed
  # Some of the paths need not exist, which find calls an error.
  changed="$(find "${WEB}"/{src,public,wasm,index.html,run.html,puzzles.txt,package-lock.json} \
    "${WEB}"/{vite.config.mjs,site,.build/wasm/tara_core.wasm} \
    "${TARA_ROOT}/models" -newer "${STAMP}" -print -quit 2>/dev/null || true)"
  [[ -z "${changed}" ]]
}

tara_install_packages web
tara_install_node
tara_npm_install "${WEB}"
"${WEB}/wasm/build.sh"
if [[ "${1:-}" == site ]]; then
  tara_say "building the page for a web space"
  if ! (cd "${WEB}" && node_modules/.bin/vite build --mode site \
    --logLevel warn >&2); then
    tara_say "the page could not be built"
    exit 1
  fi
elif [[ "${1:-}" == package ]]; then
  tara_say "building the npm package tara-core"
  rm -f "${WEB}"/.build/npm/*.tgz  # of other versions
  if ! (cd "${WEB}" && node npm/build.mjs &&
    npm pack --silent --pack-destination .build/npm ./.build/npm/tara-core) \
    >/dev/null; then
    tara_say "the package could not be built"
    exit 1
  fi
elif ! page_up_to_date; then
  tara_say "building the page"
  touch "${STAMP}.$$"
  if ! (cd "${WEB}" && node_modules/.bin/vite build --logLevel warn >&2); then
    rm -f "${STAMP}.$$"
    tara_say "the page could not be built"
    exit 1
  fi
  mv "${STAMP}.$$" "${STAMP}"
fi
