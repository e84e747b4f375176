#!/usr/bin/env bash
# Tests tools/count_tests.py on event files as `bazel test` writes them.

set -euo pipefail

readonly COUNT="${TEST_SRCDIR}/${TEST_WORKSPACE}/tools/count_tests.py"
readonly XML="${TEST_TMPDIR}/test.xml"
readonly EVENTS="${TEST_TMPDIR}/events.json"
failures=0

# expect NAME LINE STATUS ARGUMENT...: what the last line and the exit status
# are. Leaves all lines in ${OUT}.
readonly OUT="${TEST_TMPDIR}/out"
expect() {
  local name="$1" expected="$2" expected_status="$3" line status=0
  shift 3
  python3 "${COUNT}" "$@" "${EVENTS}" >"${OUT}" || status=$?
  line="$(tail -n 1 "${OUT}")"
  if [[ "${line}" != "${expected}" || "${status}" != "${expected_status}" ]]
  then
    echo "FAILED: ${name}: '${line}', status ${status};" \
      "expected '${expected}', status ${expected_status}" >&2
    failures=$((failures + 1))
  fi
}

# expect_lines NAME: what stands before the last line is standard input.
expect_lines() {
  if ! diff - <(head -n -1 "${OUT}") >&2; then
    echo "FAILED: ${1}: other lines than expected" >&2
    failures=$((failures + 1))
  fi
}

configured() {
  printf '{"id":{"targetConfigured":{"label":"%s"}},' "$1"
  printf '"configured":{"targetKind":"%s rule"}}\n' "$2"
}

# result LABEL STATUS XML [KEY] [FIELDS]: KEY and FIELDS are further JSON of the
# run's identity and of its result.
result() {
  printf '{"id":{"testResult":{"label":"%s"%s}},' "$1" "${4:-}"
  printf '"testResult":{"status":"%s"%s,' "$2" "${5:-}"
  printf '"testActionOutput":[{"name":"test.xml","uri":"file://%s"}]}}\n' "$3"
}

# Of GoogleTest: two cases that pass, one that fails, one skipped.
cat >"${XML}" <<'X'
<testsuites tests="4"><testsuite name="S">
<testcase name="A" status="run" result="completed" classname="S" />
<testcase name="B" status="run" result="completed" classname="S" />
<testcase name="C" status="run" result="completed" classname="S">
<failure message="1" /></testcase>
<testcase name="D" status="run" result="skipped" classname="S">
<skipped message="a_test.cc:7&#x0A;no moon" /></testcase>
</testsuite></testsuites>
X
# Of Bazel, for other tests.
readonly PLAIN="${TEST_TMPDIR}/plain.xml"
cat >"${PLAIN}" <<'X'
<testsuites><testsuite name="b/t" tests="1" failures="0" errors="0">
<testcase name="b/t" status="run" duration="1" time="1"></testcase>
</testsuite></testsuites>
X

{ configured //a:t cc_test; result //a:t FAILED "${XML}"; } >"${EVENTS}"
expect "counts cases" "2 passed, 1 failed, 1 skipped" 1 --bazel_status=3
expect_lines "says what was skipped and what failed" <<'X'
skipped: no moon
  //a:t S.D
failed:
  //a:t S.C
X

{
  configured //a:t cc_test
  for run in 1 2 3; do result //a:t FAILED "${XML}" ",\"run\":${run}"; done
} >"${EVENTS}"
expect "counts each run" "6 passed, 3 failed, 3 skipped" 1 --bazel_status=3
expect_lines "says in how many runs" <<'X'
skipped: no moon
  //a:t S.D (3 times)
failed:
  //a:t S.C (3 times)
X

{ configured //b:t sh_test; result //b:t PASSED "${PLAIN}"; } >"${EVENTS}"
expect "a target without cases is one" "1 passed, 0 failed, 0 skipped" 0

for field in '"cachedLocally":true' '"executionInfo":{"cachedRemotely":true}'
do
  { configured //b:t sh_test; result //b:t PASSED "${PLAIN}" "" ",${field}"; } \
    >"${EVENTS}"
  expect "a result from a cache fails" "1 passed, 1 failed, 0 skipped" 1
done

{ configured //a:t cc_test; result //a:t PASSED "${TEST_TMPDIR}/none"; } \
  >"${EVENTS}"
expect "a result without a report fails" "0 passed, 1 failed, 0 skipped" 1

readonly OTHER="${TEST_TMPDIR}/other.xml"
echo '<testsuites tests="0"></testsuites>' >"${OTHER}"
{ configured //a:t cc_test; result //a:t PASSED "${OTHER}"; } >"${EVENTS}"
expect "a program without cases fails" "0 passed, 1 failed, 0 skipped" 1
{
  echo '{"id":{"optionsParsed":{}},"optionsParsed":{"cmdLine":' \
    '["--test_filter=S.*"]}}'
  configured //a:t cc_test
  configured //b:t sh_test
  result //a:t PASSED "${OTHER}"
  result //b:t PASSED "${PLAIN}"
} >"${EVENTS}"
expect "but not if cases are filtered" "1 passed, 0 failed, 0 skipped" 0

cat >"${OTHER}" <<'X'
<testsuites><testsuite name="S">
<testcase name="A" status="run" result="completed" classname="S" />
<testcase name="B" status="run" result="skipped" classname="S">
<skipped message="a_test.cc:7&#x0A;" /></testcase>
<testcase name="C" status="notrun" result="suppressed" classname="S" />
</testsuite></testsuites>
X
{ configured //a:t cc_test; result //a:t PASSED "${OTHER}"; } >"${EVENTS}"
expect "skipped or disabled without a reason fails" \
  "1 passed, 2 failed, 0 skipped" 1

{ configured //a:t cc_test; result //a:t TIMEOUT "${TEST_TMPDIR}/none"; } \
  >"${EVENTS}"
expect "a timeout is one" "0 passed, 1 failed, 0 skipped" 1 --bazel_status=3

{ configured //b:t cc_test; result //b:t FAILED "${PLAIN}"; } >"${EVENTS}"
expect "failing after the cases is one" "1 passed, 1 failed, 0 skipped" 1 \
  --bazel_status=3

{ configured //a:t cc_test; configured //a:l cc_library; } >"${EVENTS}"
expect "a test that does not build is one" "0 passed, 1 failed, 0 skipped" 1 \
  --bazel_status=1

{
  configured //a:t cc_test
  configured //b:t sh_test
  echo '{"id":{"targetCompleted":{"label":"//a:t"}},' \
    '"aborted":{"reason":"SKIPPED"}}'
  result //b:t PASSED "${PLAIN}"
} >"${EVENTS}"
expect "an incompatible test is skipped" "1 passed, 0 failed, 1 skipped" 0

{
  configured //a:t cc_test
  result //a:t FAILED "${XML}" ',"attempt":1'
  result //a:t PASSED "${PLAIN}" ',"attempt":2'
} >"${EVENTS}"
expect "the last attempt counts" "1 passed, 0 failed, 0 skipped" 0

: >"${EVENTS}"
expect "a failure before any target is one" "0 passed, 1 failed, 0 skipped" 1 \
  --bazel_status=1
expect "no tests is a failure" "0 passed, 1 failed, 0 skipped" 1 \
  --bazel_status=4

readonly TAP="${TEST_TMPDIR}/results.tap"
{ configured //b:t sh_test; result //b:t PASSED "${PLAIN}"; } >"${EVENTS}"
printf '%s\n' 'TAP version 13' '# pass 99' '# ok 9 - z # SKIP printed' \
  'ok 1 - a' '    ok 1 - b # SKIP no wind' '# tests 5' '# pass 2' '# fail 1' \
  '# cancelled 1' '# skipped 1' >"${TAP}"
expect "adds the cases of Node.js" "3 passed, 2 failed, 1 skipped" 1 \
  --npm web "${TAP}" 1
expect_lines "says which those are" <<'X'
skipped: no wind
  web b
failed:
  web: cases in its output (2 times)
X
printf '%s\n' 'TAP version 13' 'ok 1 - a # SKIP' 'ok 2 - b' '# pass 1' \
  '# fail 0' '# cancelled 0' '# skipped 1' >"${TAP}"
expect "skipped without a reason fails in Node.js too" \
  "2 passed, 1 failed, 0 skipped" 1 --npm web "${TAP}" 0
printf '%s\n' 'TAP version 13' 'ok 1 - a' '# pass 1' '# fail 0' \
  '# cancelled 0' >"${TAP}"
expect "a failing npm fails" "2 passed, 1 failed, 0 skipped" 1 \
  --npm web "${TAP}" 1
printf '%s\n' 'TAP version 13' '# pass 0' '# fail 0' '# cancelled 0' >"${TAP}"
expect "no cases fail" "1 passed, 1 failed, 0 skipped" 1 --npm web "${TAP}" 0
printf '%s\n' 'TAP version 13' 'ok 1 - a' >"${TAP}"
expect "results that have no end are one failure" \
  "1 passed, 1 failed, 0 skipped" 1 --npm web "${TAP}" 0
expect "results that are missing are one failure" \
  "1 passed, 1 failed, 0 skipped" 1 --npm web "${TEST_TMPDIR}/none" 0

readonly PYTEST="${TEST_TMPDIR}/pytest.xml"
cat >"${PYTEST}" <<'X'
<testsuites><testsuite name="pytest" tests="4">
<testcase classname="t" name="a" /><testcase classname="t" name="b" />
<testcase classname="t" name="c"><failure message="1" /></testcase>
<testcase classname="t" name="d"><skipped message="no sun" /></testcase>
</testsuite></testsuites>
X
expect "adds the cases of pytest" "3 passed, 1 failed, 1 skipped" 1 \
  --pytest "${PYTEST}" 1
expect_lines "says which those are" <<'X'
skipped: no sun
  tests/python t.d
failed:
  tests/python t.c
X
cat >"${PYTEST}" <<'X'
<testsuites><testsuite><testcase classname="t" name="a" /></testsuite></testsuites>
X
expect "a pytest that passes" "2 passed, 0 failed, 0 skipped" 0 \
  --pytest "${PYTEST}" 0
expect "a failing pytest fails" "2 passed, 1 failed, 0 skipped" 1 \
  --pytest "${PYTEST}" 2
expect "a package that cannot be installed fails" \
  "1 passed, 1 failed, 0 skipped" 1 --pytest "${TEST_TMPDIR}/none" 1
expect "without PyPI its tests are skipped" "1 passed, 0 failed, 1 skipped" 0 \
  --pytest "${TEST_TMPDIR}/none" 69
expect_lines "says why" <<'X'
skipped: PyPI cannot be reached
  tests/python
X

((failures == 0))
