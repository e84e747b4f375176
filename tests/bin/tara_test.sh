#!/usr/bin/env bash
# Tests bin/tara in a copy of the workspace's scripts, with a PATH that holds a
# few real tools and stubs for those that install and build. Each stub appends
# its command line to ${LOG}.

# The scripts of the stubs are in single quotes on purpose.
# shellcheck disable=SC2016

set -euo pipefail

readonly SOURCES="${TEST_SRCDIR}/${TEST_WORKSPACE}"
readonly REAL_TOOLS=(awk bash cat chmod cp date dirname env find mkdir mv
  readlink rm sed touch)
failures=0

fail() {
  printf 'FAILED: %s: %s\n' "${FUNCNAME[*]:1:2}" "$*" >&2
  printf -- '--- stdout\n%s\n--- stderr\n%s\n--- log\n%s\n' \
    "$(<"${OUT}")" "$(<"${ERR}")" "$(<"${LOG}")" >&2
  failures=$((failures + 1))
}

# expect_in FILE TEXT
expect_in() {
  grep -qF -- "$2" "$1" || fail "expected in $(basename "$1"): $2"
}

expect_not_in() {
  ! grep -qF -- "$2" "$1" || fail "not expected in $(basename "$1"): $2"
}

# stub NAME SCRIPT: a command that logs its call, then does SCRIPT.
stub() {
  printf '#!/usr/bin/env bash\necho "%s $*" >>"%s"\n%s\n' "$1" "${LOG}" "$2" \
    >"${STUBS}/$1"
  chmod +x "${STUBS}/$1"
}

# A fresh copy where root has every package but the arguments.
set_up() {
  WORKSPACE="$(mktemp -d -p "${TEST_TMPDIR}")"
  STUBS="${WORKSPACE}/stubs"
  LOG="${WORKSPACE}/log"
  OUT="${WORKSPACE}/stdout"
  ERR="${WORKSPACE}/stderr"
  mkdir -p "${WORKSPACE}"/{bin,tools,stubs,tara/cli}
  cp -L "${SOURCES}"/bin/{tara,lib.sh} "${WORKSPACE}/bin/"
  cp -L "${SOURCES}/tools/packages.txt" "${WORKSPACE}/tools/"
  touch "${LOG}" "${OUT}" "${ERR}" "${WORKSPACE}/WORKSPACE" \
    "${WORKSPACE}/tara/cli/main.cc"
  local tool
  for tool in "${REAL_TOOLS[@]}"; do
    ln -s "$(command -v "${tool}")" "${STUBS}/${tool}"
  done

  printf '%s\n' "$@" >"${WORKSPACE}/missing"
  stub dpkg-query '
    status=0
    for package in "${@:3}"; do
      if grep -qxF "${package}" "'"${WORKSPACE}"'/missing"; then
        status=1
      else
        echo "${package} installed"
      fi
    done
    exit "${status}"'
  ln -s "$(command -v grep)" "${STUBS}/grep"
  stub id 'echo 0'
  stub apt-get ''
  stub apt-cache ''
  stub bazel '
    cpu=k8
    if [[ "${HOSTTYPE}" == aarch64 ]]; then cpu=aarch64; fi
    mkdir -p "bazel-out/${cpu}-opt/bin/tara/cli"
    binary="bazel-out/${cpu}-opt/bin/tara/cli/tara"
    rm -f "${binary}"
    printf "#!/usr/bin/env bash\necho ran in \$PWD with \$*\nexit 7\n" \
      >"${binary}"
    chmod +x "${binary}"'
}

# Runs bin/tara; sets `status`.
run_tara() {
  status=0
  PATH="${STUBS}" "${WORKSPACE}/bin/tara" "$@" >"${OUT}" 2>"${ERR}" \
    </dev/null || status=$?
}

expect_told_what_to_install() {
  [[ "${status}" == 1 ]] || fail "status ${status}, expected 1"
  expect_in "${ERR}" "libabsl-dev libtorch-dev"
  expect_in "${ERR}" "sudo apt-get update && sudo apt-get install \
--no-install-recommends libabsl-dev libtorch-dev"
  expect_not_in "${ERR}" "libzstd-dev"
  expect_not_in "${LOG}" "bazel build"
  [[ ! -s "${OUT}" ]] || fail "stdout should be empty"
}

without_sudo_says_what_to_install() {
  set_up libabsl-dev libtorch-dev
  stub id 'echo 1000'
  run_tara selfplay
  expect_told_what_to_install
  expect_in "${ERR}" "sudo is missing"
  expect_not_in "${LOG}" "apt-get"
}

when_sudo_wants_a_password_says_what_to_install() {
  set_up libabsl-dev libtorch-dev
  stub id 'echo 1000'
  stub sudo 'echo "sudo: a password is required" >&2; exit 1'
  run_tara selfplay
  expect_told_what_to_install
  expect_in "${ERR}" "password"
  expect_not_in "${LOG}" "apt-get"
}

when_apt_fails_says_what_to_install() {
  set_up libabsl-dev libtorch-dev
  stub apt-get '[[ "$1" == update ]]'
  run_tara selfplay
  expect_told_what_to_install
  expect_in "${ERR}" "apt-get failed"
}

when_apt_lacks_a_package_names_it() {
  set_up libabsl-dev libtorch-dev
  stub apt-get '[[ "$1" == update ]]'
  stub apt-cache '[[ "$2" != libtorch-dev ]]'
  run_tara selfplay
  expect_told_what_to_install
  expect_in "${ERR}" "this system has no libtorch-dev)"
}

without_a_home_folder_keeps_caches_in_the_checkout() {
  set_up
  stub bazel 'echo "home ${HOME}" >>"'"${LOG}"'"; exit 1'
  HOME=/dev/null run_tara play
  expect_in "${LOG}" "home ${WORKSPACE}/.tara/home"
}

a_path_with_a_space_is_refused() {
  set_up
  mkdir "${WORKSPACE}/c d"
  mv "${WORKSPACE}/bin" "${WORKSPACE}/c d/"
  status=0
  PATH="${STUBS}" "${WORKSPACE}/c d/bin/tara" play >"${OUT}" 2>"${ERR}" ||
    status=$?
  [[ "${status}" == 1 ]] || fail "status ${status}, expected 1"
  expect_in "${ERR}" "path has a space: ${WORKSPACE}/c d"
  [[ ! -s "${LOG}" ]] || fail "it should have run nothing"
}

without_apt_says_what_to_install() {
  set_up libabsl-dev libtorch-dev
  rm "${STUBS}/apt-get"
  run_tara selfplay
  expect_told_what_to_install
  expect_in "${ERR}" "apt-get is missing"
}

root_installs_what_is_missing_and_runs() {
  set_up libabsl-dev libtorch-dev
  run_tara selfplay
  [[ "${status}" == 7 ]] || fail "status ${status}, expected the binary's 7"
  expect_in "${ERR}" "installing Debian packages: libabsl-dev libtorch-dev"
  expect_in "${LOG}" "apt-get update"
  expect_in "${LOG}" "300 libabsl-dev libtorch-dev"
  expect_not_in "${LOG}" "libzstd-dev libabsl"
}

with_sudo_installs_what_is_missing() {
  set_up libzstd-dev
  stub id 'echo 1000'
  stub sudo 'if [[ "$1" != -n ]]; then "$@"; fi'
  run_tara selfplay
  [[ "${status}" == 7 ]] || fail "status ${status}, expected the binary's 7"
  expect_in "${LOG}" "sudo env DEBIAN_FRONTEND=noninteractive apt-get install"
  expect_in "${LOG}" "apt-get install"
}

installs_nothing_when_nothing_is_missing() {
  set_up
  run_tara selfplay
  expect_not_in "${LOG}" "apt-get"
  expect_not_in "${LOG}" "sudo"
}

runs_in_the_folder_of_the_caller() {
  set_up
  cd "${TEST_TMPDIR}"
  run_tara play --file=a.txt "two words"
  expect_in "${OUT}" "ran in ${TEST_TMPDIR} with play --file=a.txt two words"
}

works_through_a_symlink() {
  set_up
  ln -s "${WORKSPACE}/bin/tara" "${WORKSPACE}/link"
  status=0
  PATH="${STUBS}" "${WORKSPACE}/link" play >"${OUT}" 2>"${ERR}" || status=$?
  [[ "${status}" == 7 ]] || fail "status ${status}, expected the binary's 7"
}

builds_only_when_a_source_is_newer() {
  set_up
  touch -d '1 hour ago' "${WORKSPACE}"/tara{,/cli,/cli/main.cc} \
    "${WORKSPACE}/WORKSPACE"
  run_tara play
  expect_in "${LOG}" "bazel build"
  expect_in "${ERR}" "building"

  : >"${LOG}"
  run_tara play
  [[ "${status}" == 7 ]] || fail "status ${status}, expected the binary's 7"
  expect_not_in "${LOG}" "bazel build"
  [[ ! -s "${ERR}" ]] || fail "a start without a build should say nothing"

  touch -d '1 hour' "${WORKSPACE}/tara/cli/main.cc"
  run_tara play
  expect_in "${LOG}" "bazel build"
}

builds_again_for_another_torch() {
  set_up
  touch -d '1 hour ago' "${WORKSPACE}"/tara{,/cli,/cli/main.cc} \
    "${WORKSPACE}/WORKSPACE"
  run_tara play
  : >"${LOG}"
  TARA_TORCH_ROOT=/opt/libtorch run_tara play
  expect_in "${LOG}" "bazel build"
  : >"${LOG}"
  TARA_TORCH_ROOT=/opt/libtorch TARA_CUDA_ROOT=/opt/cuda run_tara play
  expect_in "${LOG}" "bazel build"
}

a_failed_build_runs_nothing() {
  set_up
  stub bazel 'exit 1'
  run_tara play
  [[ "${status}" == 1 ]] || fail "status ${status}, expected 1"
  expect_in "${ERR}" "the build failed"
  : >"${LOG}"
  run_tara play
  expect_in "${LOG}" "bazel build"
}

without_sudo_says_what_to_install
when_sudo_wants_a_password_says_what_to_install
when_apt_fails_says_what_to_install
when_apt_lacks_a_package_names_it
a_path_with_a_space_is_refused
without_a_home_folder_keeps_caches_in_the_checkout
without_apt_says_what_to_install
root_installs_what_is_missing_and_runs
with_sudo_installs_what_is_missing
installs_nothing_when_nothing_is_missing
runs_in_the_folder_of_the_caller
works_through_a_symlink
builds_only_when_a_source_is_newer
builds_again_for_another_torch
a_failed_build_runs_nothing
((failures == 0))
