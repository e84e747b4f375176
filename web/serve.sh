#!/usr/bin/env bash
# Builds what is missing of the page and becomes `tara web --page`, which serves
# it, or writes it to a folder for any web space: web/serve.sh with --model,
# --run, --port and --export of `tara web`. The model is a bundle, or a run or
# checkpoint, which is exported. For people there is `bin/tara web`, which checks
# the arguments.

# shellcheck source-path=SCRIPTDIR source=../bin/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../bin/lib.sh"

readonly WEB="${TARA_ROOT}/web"
page="${WEB}/dist"
arguments=()
model=""
while [[ $# -gt 0 ]]; do
  case "$1" in
    --export) page="${WEB}/.build/site" ;;&
    --model) model="$2" ;;
    *) arguments+=("$1" "$2") ;;
  esac
  shift 2
done
readonly MODEL="${model}"

bundle=""
if [[ -n "${MODEL}" ]]; then
  bundle="${MODEL}"
  if [[ -d "${MODEL}" || "${MODEL}" != *.tara ]]; then
    mkdir -p "${WEB}/.build"
    bundle="${WEB}/.build/$(basename "${MODEL%/}").tara"
    tara_say "exporting ${MODEL}"
    "${TARA_BINARY}" export "${MODEL}" -o "${bundle}" >&2
  fi
fi
if [[ "${page}" == */site ]]; then
  # The network is a part of the page.
  TARA_MODEL="${bundle}" "${WEB}/build.sh" site
else
  "${WEB}/build.sh"
  arguments+=(${bundle:+--model "${bundle}"})
fi
export TARA_ROOT
exec "${TARA_BINARY}" web --page "${page}" "${arguments[@]}"
