# Shell functions that bin/tara and bin/test share. Sourced, never run.
# Messages of these functions go to stderr.
# shellcheck shell=bash

set -euo pipefail

TARA_ROOT="$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
readonly TARA_ROOT

tara_say() {
  printf 'tara: %s\n' "$*" >&2
}

if [[ "${TARA_ROOT}" == *[[:space:]]* ]]; then
  tara_say "Bazel builds in no folder whose path has a space: ${TARA_ROOT}"
  exit 1
fi

# Caches of Bazel, npm and Emscripten are in the user's home folder; where that
# cannot be written, in a folder of the checkout that Bazel takes for no source.
if [[ -z "${HOME:-}" ]] || ! mkdir -p "${HOME}/.cache" 2>/dev/null ||
  [[ ! -w "${HOME}/.cache" ]]; then
  export HOME="${TARA_ROOT}/.tara/home"
  mkdir -p "${HOME}/.cache"
fi

# Debian's Python, which emscripten needs, even if another is first on the PATH.
readonly TARA_PYTHON=/usr/bin/python3
export EMSDK_PYTHON="${TARA_PYTHON}"

# tara_packages [GROUP...]: prints the packages of tools/packages.txt that
# everything needs, and the ones of the groups, one per line.
tara_packages() {
  sed -e 's/#.*//' "${TARA_ROOT}/tools/packages.txt" |
    awk -v groups="$*" '
      BEGIN {
        count = split(groups, names, " ")
        for (i = 1; i <= count; ++i) wanted["@" names[i]] = 1
      }
      NF == 1 || (NF == 2 && $2 in wanted) { print $1 }'
}

# tara_missing_packages PACKAGE...: prints the ones that are not installed.
# dpkg-query fails for packages that dpkg does not know, which is not an error
# here.
tara_missing_packages() {
  { dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' \
    "$@" 2>/dev/null || true; } |
    awk -v wanted="$*" '
      $2 == "installed" { installed[$1] = 1 }
      END {
        count = split(wanted, names, " ")
        for (i = 1; i <= count; ++i) {
          if (!(names[i] in installed)) print names[i]
        }
      }'
}

# tara_unknown_packages PACKAGE...: prints the ones that apt cannot find.
tara_unknown_packages() {
  local package
  for package in "$@"; do
    apt-cache show "${package}" >/dev/null 2>&1 || printf '%s\n' "${package}"
  done
}

# tara_cannot_install REASON PACKAGE...: prints what to do by hand, and exits.
tara_cannot_install() {
  local reason="$1"
  shift
  tara_say "these Debian packages are missing, and ${reason}: $*"
  tara_say "Install them on Debian 12 or 13 with:"
  tara_say "  sudo apt-get update && sudo apt-get install" \
    "--no-install-recommends $*"
  exit 1
}

# tara_apt_install PACKAGE...: installs them, or exits.
tara_apt_install() {
  if ! command -v apt-get >/dev/null; then
    tara_cannot_install "apt-get is missing" "$@"
  fi

  # `env` keeps the command the same with and without sudo, which drops
  # variables.
  local -a as_root=(env DEBIAN_FRONTEND=noninteractive)
  if [[ "$(id -u)" != 0 ]]; then
    if ! command -v sudo >/dev/null; then
      tara_cannot_install "you are not root and sudo is missing" "$@"
    fi
    if [[ ! -t 0 ]] && ! sudo -n true 2>/dev/null; then
      tara_cannot_install "sudo asks for a password" "$@"
    fi
    as_root=(sudo "${as_root[@]}")
  fi

  tara_say "installing Debian packages: $*"
  # An outdated index is worth a try: the next command fails if it is not enough.
  "${as_root[@]}" apt-get update -q -o DPkg::Lock::Timeout=300 >&2 || true
  if ! "${as_root[@]}" apt-get install -q -y --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "$@" >&2; then
    local reason="apt-get failed"
    local -a unknown
    mapfile -t unknown < <(tara_unknown_packages "$@")
    if ((${#unknown[@]} > 0)); then
      reason+=" (this system has no ${unknown[*]})"
    fi
    tara_cannot_install "${reason}" "$@"
  fi
}

# tara_install_packages [GROUP...]: installs missing packages, of the ones that
# everything needs and of the groups; returns at once if none are missing.
tara_install_packages() {
  local -a packages missing
  mapfile -t packages < <(tara_packages "$@")
  mapfile -t missing < <(tara_missing_packages "${packages[@]}")
  if ((${#missing[@]} > 0)); then
    tara_apt_install "${missing[@]}"
  fi
}

# Installs Node.js and npm if the commands are missing. Debian's packages would
# conflict with an installation from another source.
tara_install_node() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    tara_apt_install nodejs npm
  fi
}

# tara_npm_install FOLDER: updates its node_modules to its package-lock.json;
# returns at once if they match.
tara_npm_install() {
  local folder="$1"
  # npm writes this file last.
  local done="${folder}/node_modules/.package-lock.json"
  if [[ -f "${done}" && ! "${folder}/package-lock.json" -nt "${done}" ]]; then
    return
  fi
  tara_say "installing npm packages of ${folder}"
  if ! (cd "${folder}" &&
    npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2); then
    tara_say "npm could not install what ${folder}/package-lock.json lists"
    exit 1
  fi
  touch "${done}"
}

# A file that shows whether the binary is up to date: its time is that of the
# sources at the build, its content the settings. The binary's own time is not
# enough, because Bazel keeps it if a change makes no difference.
readonly TARA_STAMP="${TARA_ROOT}/.tara/built"
# Bazel's options, and its name of the processor.
if [[ "${HOSTTYPE}" == aarch64 ]]; then
  readonly TARA_BAZEL_FLAGS=(--config=arm64-native) TARA_CPU=aarch64
else
  readonly TARA_BAZEL_FLAGS=() TARA_CPU=k8
fi
# Not bazel-bin, which points to the configuration that was built last.
readonly TARA_BINARY="${TARA_ROOT}/bazel-out/${TARA_CPU}-opt/bin/tara/cli/tara"

tara_settings() {
  printf 'TARA_TORCH_ROOT=%s\nTARA_CUDA_ROOT=%s\n' "${TARA_TORCH_ROOT:-}" \
    "${TARA_CUDA_ROOT:-}"
}

tara_up_to_date() {
  [[ -x "${TARA_BINARY}" && -f "${TARA_STAMP}" ]] || return 1
  [[ "$(<"${TARA_STAMP}")" == "$(tara_settings)" ]] || return 1
  # Folders count too: their times show files that were removed.
  local changed
  # Some of the paths need not exist, which find calls an error.
  changed="$(cd "${TARA_ROOT}" || exit 1
    find tara proto configs third_party WORKSPACE BUILD .bazelrc user.bazelrc \
      -newer "${TARA_STAMP}" -print -quit 2>/dev/null || true)"
  [[ -z "${changed}" ]]
}

# Builds the binary if a source is newer. Starts Bazel only then.
tara_build() {
  if tara_up_to_date; then
    return
  fi
  # The stamp has the start time: files that change during the build are newer.
  local start settings
  start="$(date +@%s.%N)"
  settings="$(tara_settings)"
  local -a quiet=("--ui_event_filters=-info,-debug")
  if [[ ! -t 2 ]]; then
    quiet+=(--noshow_progress)
  fi
  tara_say "building (the first time takes minutes)"
  if ! (cd "${TARA_ROOT}" && bazel build "${TARA_BAZEL_FLAGS[@]}" \
    "${quiet[@]}" //tara/cli:tara >&2); then
    tara_say "the build failed"
    exit 1
  fi
  mkdir -p "$(dirname "${TARA_STAMP}")"
  echo "${settings}" >"${TARA_STAMP}.$$"
  touch -d "${start}" "${TARA_STAMP}.$$"
  mv "${TARA_STAMP}.$$" "${TARA_STAMP}"
}

# tara_libraries FILE: prints the libraries that a program or library is linked
# with, one `NAME PATH PACKAGE` per line, except glibc's, which must match the
# kernel and the loader of the system.
tara_libraries() {
  local libraries
  libraries="$(ldd "$1" | awk '
    $3 ~ /^\// && $1 !~ /^(ld-linux|lib(c|m|dl|pthread|rt|resolv)\.so\.)/ {
      print $1, $3 }' | while read -r library path; do
    printf '%s %s %s\n' "${library}" "${path}" "$(readlink -f "${path}")"
  done)"
  # dpkg knows files by the name that they were installed by, in /lib or
  # /usr/lib. It reads all its lists at each call, so it is called once.
  local -a files
  mapfile -t files < <(awk '{ print $3; sub("^/usr", "", $3); print $3 }' \
    <<<"${libraries}")
  awk '
    owners { split($0, package, ":"); if (!($NF in of)) of[$NF] = package[1] }
    !owners && NF > 0 {
      short = $3
      sub("^/usr", "", short)
      print $1, $2, $3 in of ? of[$3] : of[short]
    }' owners=1 <(dpkg-query --search "${files[@]}" 2>/dev/null || true) \
    owners=0 <(printf '%s\n' "${libraries}")
}

# Builds the extension module of the Python package, by the headers that
# TARA_PYTHON_INCLUDE and TARA_PYBIND11_INCLUDE name; prints its path.
# TARA_PYTHON_CONFIG may name a configuration of .bazelrc: asan. With
# TARA_PROGRESS=1 Bazel prints its progress, a line every few seconds.
tara_python_build() {
  local -a flags=("${TARA_BAZEL_FLAGS[@]}"
    ${TARA_PYTHON_CONFIG:+"--config=${TARA_PYTHON_CONFIG}"}
    "--repo_env=TARA_PYTHON_INCLUDE=${TARA_PYTHON_INCLUDE}"
    "--repo_env=TARA_PYBIND11_INCLUDE=${TARA_PYBIND11_INCLUDE}")
  local -a progress=(--noshow_progress)
  if [[ "${TARA_PROGRESS:-}" == 1 ]]; then
    progress=(--curses=no --show_progress_rate_limit=2)
  fi
  tara_install_packages python
  tara_say "building the Python package's module (the first time takes minutes)"
  (cd "${TARA_ROOT}" && bazel build "${flags[@]}" \
    --ui_event_filters=-info,-debug "${progress[@]}" \
    //tara/python:_tara.so >&2 && printf '%s/tara/python/_tara.so\n' \
    "$(bazel info "${flags[@]}" bazel-bin 2>/dev/null)")
}

# The environment of the Python package's tests.
readonly TARA_VENV="${TARA_ROOT}/.tara/venv"
# Status of tara_venv where PyPI cannot be reached (EX_UNAVAILABLE).
readonly TARA_NO_PYPI=69

# tara_venv FOLDER REQUIREMENTS [VENV ARGUMENT...]: makes FOLDER a virtual
# environment with the packages of the file REQUIREMENTS; returns at once if it
# is one. Returns TARA_NO_PYPI, or 1 for other failures.
tara_venv() {
  local folder="$1" requirements="$2"
  shift 2
  local done="${folder}/installed.txt"
  if cmp --silent "${requirements}" "${done}"; then
    return
  fi
  tara_say "installing Python packages of ${requirements}"
  "${TARA_PYTHON}" -m venv --clear "$@" "${folder}" || return 1
  if ! "${folder}/bin/pip" install --quiet --no-deps --ignore-installed \
    --require-hashes --disable-pip-version-check -r "${requirements}" >&2; then
    if "${folder}/bin/pip" download --quiet --no-deps \
      --disable-pip-version-check --dest "${folder}/reached" pip \
      >/dev/null 2>&1; then
      return 1
    fi
    return "${TARA_NO_PYPI}"
  fi
  cp "${requirements}" "${done}"
}

# Installs the packages of tests/python/requirements.txt and the current Python
# package into TARA_VENV. Returns TARA_NO_PYPI, or 1 for other failures.
tara_python_venv() {
  tara_venv "${TARA_VENV}" "${TARA_ROOT}/tests/python/requirements.txt" \
    --system-site-packages || return $?
  "${TARA_VENV}/bin/pip" install --quiet --no-build-isolation --no-deps \
    --disable-pip-version-check "${TARA_ROOT}" >&2 || return 1
}

# The environment of the examples that use other libraries.
readonly TARA_RECIPES="${TARA_ROOT}/.tara/recipes"

# Makes TARA_RECIPES what tests/python/recipes.txt lists, in front of the
# packages of TARA_VENV. Fails where there are no such packages: they are those
# of Debian 12 on x86-64.
tara_recipes_venv() {
  local version
  version="$("${TARA_PYTHON}" -c 'import sys; print("%d.%d" % sys.version_info[:2])')"
  if [[ "${version}" != 3.11 || "${HOSTTYPE}" != x86_64 ]]; then
    return 1
  fi
  tara_venv "${TARA_RECIPES}" "${TARA_ROOT}/tests/python/recipes.txt" \
    --system-site-packages || return $?
  echo "import site; site.addsitedir('${TARA_VENV}/lib/python3.11/site-packages')" \
    >"${TARA_RECIPES}/lib/python3.11/site-packages/tests.pth"
}
