#!/usr/bin/env bash
# Tests tools/count_tests.py on event files as `bazel test` writes them.

set -euo pipefail

readonly COUNT="${TEST_SRCDIR}/${TEST_WORKSPACE}/tools/count_tests.py"
readonly XML="${TEST_TMPDIR}/test.xml"
readonly EVENTS="${TEST_TMPDIR}/events.json"
failures=0

# expect NAME LINE STATUS ARGUMENT...
expect() {
  local name="$1" expected="$2" expected_status="$3" line status=0
  shift 3
  line="$(python3 "${COUNT}" "$@" "${EVENTS}")" || status=$?
  if [[ "${line}" != "${expected}" || "${status}" != "${expected_status}" ]]
  then
    echo "FAILED: ${name}: '${line}', status ${status};" \
      "expected '${expected}', status ${expected_status}" >&2
    failures=$((failures + 1))
  fi
}

configured() {
  printf '{"id":{"targetConfigured":{"label":"%s"}},' "$1"
  printf '"configured":{"targetKind":"%s rule"}}\n' "$2"
}

# result LABEL STATUS XML [ATTEMPT]
result() {
  printf '{"id":{"testResult":{"label":"%s","run":1,"shard":1,' "$1"
  printf '"attempt":%s}},"testResult":{"status":"%s",' "${4:-1}" "$2"
  printf '"testActionOutput":[{"name":"test.xml","uri":"file://%s"}]}}\n' "$3"
}

# Two cases that pass, one that fails, one skipped, one disabled.
cat >"${XML}" <<'X'
<testsuites tests="5"><testsuite name="S">
<testcase name="A" status="run" result="completed" />
<testcase name="B" status="run" result="completed" />
<testcase name="C" status="run" result="completed"><failure message="1" />
</testcase>
<testcase name="D" status="run" result="skipped"><skipped message="" />
</testcase>
<testcase name="E" status="notrun" result="suppressed" />
</testsuite></testsuites>
X
{ configured //a:t cc_test; result //a:t FAILED "${XML}"; } >"${EVENTS}"
expect "counts cases" "2 passed, 1 failed" 1 --bazel_status=3

{ configured //a:t cc_test; result //a:t PASSED "${TEST_TMPDIR}/none"; } \
  >"${EVENTS}"
expect "a target without cases is one" "1 passed, 0 failed" 0

{ configured //a:t cc_test; result //a:t TIMEOUT "${TEST_TMPDIR}/none"; } \
  >"${EVENTS}"
expect "a timeout is one" "0 passed, 1 failed" 1 --bazel_status=3

{ configured //a:t cc_test; configured //a:l cc_library; } >"${EVENTS}"
expect "a test that does not build is one" "0 passed, 1 failed" 1 \
  --bazel_status=1

{
  configured //a:t cc_test
  result //a:t FAILED "${XML}" 1
  result //a:t PASSED "${TEST_TMPDIR}/none" 2
} >"${EVENTS}"
expect "the last attempt counts" "1 passed, 0 failed" 0

{ configured //a:t cc_test; result //a:t FAILED "${TEST_TMPDIR}/none"; } \
  >"${EVENTS}"
expect "a crash is one" "0 passed, 1 failed" 1 --bazel_status=3

: >"${EVENTS}"
expect "a failure before any target is one" "0 passed, 1 failed" 1 \
  --bazel_status=1
expect "no tests is no failure" "0 passed, 0 failed" 0 --bazel_status=4

readonly TAP="${TEST_TMPDIR}/results.tap"
printf '%s\n' 'TAP version 13' '# pass 99' 'ok 1 - a' '# tests 5' '# pass 2' \
  '# fail 1' '# cancelled 1' '# skipped 1' >"${TAP}"
{ configured //a:t cc_test; result //a:t PASSED "${TEST_TMPDIR}/none"; } \
  >"${EVENTS}"
expect "adds the cases of Node.js" "3 passed, 2 failed" 1 --tap "${TAP}"
printf '%s\n' 'TAP version 13' 'ok 1 - a' >"${TAP}"
expect "results that have no end are one failure" "1 passed, 1 failed" 1 \
  --tap "${TAP}"
expect "results that are missing are one failure" "1 passed, 1 failed" 1 \
  --tap "${TEST_TMPDIR}/none"

((failures == 0))
