"""Counts the test cases of a `bazel test` from its build event file.

Prints `N passed, M failed`. A GoogleTest target counts each case of its
test.xml that ran, any other target 1. A target that failed without a failed
case (it crashed, leaked, timed out or did not build) counts 1 failed. With
--tap, the cases of Node.js's test runner are added; a results file that is
missing or has no end counts 1 failed. The exit status is 1 if any failed.
"""

import argparse
import json
import sys
import urllib.parse
import xml.etree.ElementTree

# Bazel's status when there were no tests to run.
NO_TESTS_FOUND = 4


def read_events(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def count_cases(xml_path):
    """Returns (passed, failed) of a test.xml, or None if it holds no cases."""
    try:
        root = xml.etree.ElementTree.parse(xml_path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return None
    cases = list(root.iter("testcase"))
    passed = failed = 0
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif (case.get("status", "run") == "run" and
              case.get("result", "completed") == "completed"):
            passed += 1  # neither disabled nor skipped
    return (passed, failed) if cases else None


def count_result(result):
    """Returns (passed, failed) of one testResult event."""
    counts = None
    for output in result.get("testActionOutput", []):
        if output["name"] == "test.xml":
            path = urllib.parse.urlparse(output["uri"]).path
            counts = count_cases(urllib.parse.unquote(path))
    if result.get("status") == "PASSED":
        return counts or (1, 0)
    passed, failed = counts or (0, 0)
    return passed, max(failed, 1)


def count(events):
    """Returns (passed, failed) of a whole invocation."""
    tests = set()
    results = {}  # (label, run, shard) -> (attempt, passed, failed)
    for event in events:
        identity = event["id"]
        if "configured" in event:
            kind = event["configured"].get("targetKind", "")
            if kind.endswith("_test rule"):
                tests.add(identity["targetConfigured"]["label"])
        elif "testResult" in event:
            key = identity["testResult"]
            shard = (key["label"], key.get("run", 1), key.get("shard", 1))
            attempt = key.get("attempt", 1)
            if attempt >= results.get(shard, (0,))[0]:
                results[shard] = (attempt, *count_result(event["testResult"]))
    not_run = tests - {label for label, _, _ in results}
    passed = sum(result[1] for result in results.values())
    failed = sum(result[2] for result in results.values())
    return passed, failed + len(not_run)


def count_tap(path):
    """Returns (passed, failed) of what `node --test` wrote as TAP."""
    totals = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                words = line.split()
                # The totals stand alone: "# pass 12". A case that prints the
                # like comes before them, and they are the last.
                if line.startswith("# ") and len(words) == 3:
                    totals[words[1]] = words[2]
        passed = int(totals["pass"])
        failed = int(totals["fail"]) + int(totals["cancelled"])
    except (OSError, KeyError, ValueError):
        return 0, 1
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bazel_status", type=int, default=0)
    parser.add_argument("--tap", action="append", default=[],
                        help="file of node --test --test-reporter=tap")
    parser.add_argument("events", help="file of --build_event_json_file")
    arguments = parser.parse_args()
    passed, failed = count(read_events(arguments.events))
    if failed == 0 and arguments.bazel_status not in (0, NO_TESTS_FOUND):
        failed = 1  # Bazel failed before there were targets
    for path in arguments.tap:
        more_passed, more_failed = count_tap(path)
        passed += more_passed
        failed += more_failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
