#!/usr/bin/env bash
# Runs the README's commands in a fresh Debian, made in a folder:
#
#   sudo tools/fresh_debian.sh RELEASE FOLDER [COMMAND...]
#
# RELEASE is bookworm (Debian 12) or trixie (13). The folder gets a Debian of
# 0.4 GB without the packages that Tara needs, and a clone of this repository's
# commits; with the commands it grows to 8 GB. A folder with such a Debian is
# reused with the newest commit, and only changes are compiled. COMMAND runs in
# place of the README's two, for example `bash` to look around.
#
# Takes root, for chroot, and debootstrap; outside of Debian also the package
# debian-archive-keyring. Nothing stays mounted, and no process stays behind:
# `rm -r FOLDER` removes it all.

set -euo pipefail

root="$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
readonly root

usage() {
  sed -n '2,/^$/{s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
}

fail() {
  printf 'fresh_debian.sh: %s\n' "$*" >&2
  exit 2
}

case "${1:-}" in
  --help | -h)
    usage
    exit
    ;;
  bookworm | trixie) ;;
  *) fail "expected bookworm or trixie, got '${1:-}' (--help says more)" ;;
esac
(($# >= 2)) || fail "expected a folder after '$1' (--help says more)"
((EUID == 0)) || fail "chroot takes root; run it with sudo"
command -v debootstrap >/dev/null ||
  fail "debootstrap is missing: apt-get install debootstrap"

release="$1"
mkdir -p "$2"
folder="$(readlink -f "$2")"
shift 2
if (($# == 0)); then
  # shellcheck disable=SC2016  # the shell within expands it
  set -- bash -c '
    set -e
    time bin/tara train configs/quickstart.textproto
    time bin/test'
fi

readonly made="${folder}/etc/fresh_debian"
if [[ ! -f "${made}" ]]; then
  debootstrap --variant=minbase --include=ca-certificates,git "${release}" \
    "${folder}"
  # How this machine reaches Debian's archive, and whom it trusts.
  apt-config dump Acquire |
    grep -E '^Acquire::(https?|Check-[A-Za-z-]+|Retries)\b' \
      >"${folder}/etc/apt/apt.conf.d/90machine" || true
  cp -RL /usr/local/share/ca-certificates "${folder}/usr/local/share/"
  chroot "${folder}" update-ca-certificates
  printf '%s\n' "${release}" >"${made}"
fi
[[ "$(<"${made}")" == "${release}" ]] ||
  fail "${folder} has a Debian $(<"${made}"), not ${release}"
cp -L /etc/resolv.conf "${folder}/etc/resolv.conf"

readonly clone="${folder}/root/tara"
if [[ ! -d "${clone}" ]]; then
  git clone --quiet "${root}" "${clone}"
fi
git -C "${clone}" fetch --quiet "${root}" HEAD
git -C "${clone}" reset --quiet --hard FETCH_HEAD

# Mounts and processes of a namespace go when its first process does.
# shellcheck disable=SC2016  # the shell within expands it
exec unshare --mount --pid --fork --kill-child bash -c '
  folder="$1"
  shift
  mount -t proc proc "${folder}/proc"
  mount --rbind /dev "${folder}/dev"
  exec env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
    chroot "${folder}" bash -c "cd /root/tara && exec \"\$@\"" - "$@"
' - "${folder}" "$@"
