#!/usr/bin/env bash
# Fuzzes the core with libFuzzer, ASan and UBSan: fuzz.sh FUZZER SECONDS.
#
# Run by the tests for twenty seconds each. For as long as you want, from the
# root of the project:
#
#   tests/fuzz/fuzz.sh position 3600
#
# Bazel builds with g++, which has no libFuzzer: clang compiles the core's few
# files here. A crash leaves its input in the working folder, as libFuzzer says.
set -euo pipefail

if (($# != 2)); then
  echo "usage: fuzz.sh position|notation|game SECONDS" >&2
  exit 2
fi
fuzzer="$1"
seconds="$2"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
# The sources, which Bazel lets a test see by this link alone.
root="$(dirname "$(readlink -f WORKSPACE)")"

sources=(tara/base/text.cc
  tara/core/{action,drawing,outcome,position_text,rule_options,rules}.cc
  tara/core/{symmetry,validate,variant}.cc "tests/fuzz/${fuzzer}_fuzzer.cc")
compile() {
  clang++ -std=c++20 -O1 -g -I"$3" -fno-sanitize-recover=all \
    -fsanitize=fuzzer-no-link,address,undefined \
    -c "$3/$1" -o "$2/$(basename "$1").o"
}
export -f compile
printf '%s\n' "${sources[@]}" |
  xargs -P "$(nproc)" -I{} bash -c "compile {} ${work} ${root}"
clang++ -fsanitize=fuzzer,address,undefined "${work}"/*.o -o "${work}/fuzzer" \
  -Wl,--as-needed "/usr/lib/$(gcc -print-multiarch)"/libabsl_*.so

# Seeds: positions of each variant from start to end, actions of each kind.
mkdir "${work}/corpus"
n=0
seeds="${root}/tests/fuzz/${fuzzer}_seeds.txt"
if [[ -f "${seeds}" ]]; then
  while read -r line; do
    n=$((n + 1))
    printf '%s\n\1\2\3\4\5\6\7\10' "${line}" >"${work}/corpus/${n}p"
    printf '%s' "${line}" >"${work}/corpus/${n}"
  done <"${seeds}"
fi
# Sanitizers of clang 14 crash by chance where addresses have 32 random bits:
# https://github.com/google/sanitizers/issues/1614
fixed=()
if setarch -R true 2>/dev/null; then fixed=(setarch -R); fi
# An input that hangs does so for longer than a busy machine stands still.
"${fixed[@]}" "${work}/fuzzer" -max_total_time="${seconds}" -timeout=300 \
  -max_len=1024 \
  -use_value_profile=1 -print_final_stats=1 -verbosity=0 "${work}/corpus"
