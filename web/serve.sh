#!/usr/bin/env bash
# Builds what is missing of the page and becomes `tara web --page`, which serves
# it: web/serve.sh PORT [MODEL]. The model is a bundle, or a run or checkpoint,
# which is exported. For people there is `bin/tara web`, which checks the
# arguments.

# shellcheck source-path=SCRIPTDIR source=../bin/lib.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../bin/lib.sh"

readonly PORT="$1"
readonly MODEL="${2:-}"
readonly WEB="${TARA_ROOT}/web"

"${WEB}/build.sh"
arguments=(web --port "${PORT}" --page "${WEB}/dist")
if [[ -n "${MODEL}" ]]; then
  bundle="${MODEL}"
  if [[ -d "${MODEL}" || "${MODEL}" != *.tara ]]; then
    bundle="${WEB}/.build/$(basename "${MODEL%/}").tara"
    tara_say "exporting ${MODEL}"
    "${TARA_BINARY}" export "${MODEL}" -o "${bundle}" >&2
  fi
  arguments+=(--model "${bundle}")
fi
export TARA_ROOT
exec "${TARA_BINARY}" "${arguments[@]}"
