"""Counts the test cases of a `bazel test` from its build event file.

Prints `N passed, N failed, N skipped`, and before it the skipped cases with
their reasons and the failed ones with how many of their runs failed. A
GoogleTest target counts each case of its test.xml, any other target 1.
With --npm and --pytest, the cases of Node.js's test runner and of pytest are
added. These count 1 failed each (tests that are incompatible with the
configuration are skipped):

- a target that failed without a failed case: it crashed, leaked, timed out or
  did not build;
- a target, or a run of npm, that executed no case;
- a skipped or disabled case without a reason;
- a result from a cache, which is of an earlier run;
- results of npm or pytest that are missing or have no end, or whose exit status is not 0
  though no case failed.

The exit status is 1 if any failed.
"""

import argparse
import collections
import json
import re
import sys
import urllib.parse
import xml.etree.ElementTree

# Bazel's exit status without tests.
NO_TESTS_FOUND = 4

# A case that did not run, in TAP: "ok 3 - name # SKIP reason". Its subtests'
# lines are indented. What tests print begins with "#".
TAP_NOT_RUN = re.compile(r"\s*(?:not )?ok \d+ - (.*?) # (?:SKIP|TODO)\b ?(.*)")


class Counts:
    """Cases passed, failed and skipped, with notes about them."""

    def __init__(self):
        self.passed = 0
        self.failed = collections.Counter()  # what failed -> times
        self.skipped = collections.defaultdict(list)  # reason -> cases

    def fail(self, what, times=1):
        self.failed[what] += times

    def skip(self, case, reason):
        if reason.strip():
            self.skipped[reason.strip()].append(case)
        else:
            self.fail(f"{case}: skipped without a reason")

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        for reason, cases in other.skipped.items():
            self.skipped[reason] += cases

    def report(self):
        """Returns the lines to print."""
        lines = []
        for reason, cases in sorted(self.skipped.items()):
            lines.append(f"skipped: {reason}")
            lines += [f"  {line}" for line in with_times(cases)]
        if self.failed:
            lines.append("failed:")
            lines += [f"  {line}" for line in with_times(self.failed)]
        skipped = sum(len(cases) for cases in self.skipped.values())
        failed = sum(self.failed.values())
        lines.append(
            f"{self.passed} passed, {failed} failed, {skipped} skipped")
        return lines


def with_times(names):
    """Returns each name once, with how often it is there if more than once."""
    return [name if times == 1 else f"{name} ({times} times)"
            for name, times in sorted(collections.Counter(names).items())]


# --- Bazel -------------------------------------------------------------------


def read_events(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def case_name(label, case):
    # The test.xml that Bazel writes for others than GoogleTest has no classes.
    if case.get("classname") is None:
        return label
    return f"{label} {case.get('classname')}.{case.get('name')}"


def count_cases(label, xml_path, filtered):
    """Returns the Counts of a test.xml; filtered: it may hold no cases."""
    counts = Counts()
    try:
        root = xml.etree.ElementTree.parse(xml_path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        counts.fail(f"{label}: no test.xml that can be read")
        return counts
    cases = list(root.iter("testcase"))
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            counts.fail(case_name(label, case))
        elif case.find("skipped") is not None:
            # GoogleTest puts the place before the reason: "FILE:LINE\nREASON".
            message = case.find("skipped").get("message", "")
            counts.skip(case_name(label, case),
                        " ".join(message.splitlines()[1:]))
        elif case.get("status", "run") != "run":
            counts.skip(case_name(label, case), "")  # disabled
        else:
            counts.passed += 1
    if not cases and not filtered:
        counts.fail(f"{label}: executed no case")
    return counts


def count_result(label, result, filtered):
    """Returns the Counts of one testResult event."""
    paths = [urllib.parse.unquote(urllib.parse.urlparse(output["uri"]).path)
             for output in result.get("testActionOutput", [])
             if output["name"] == "test.xml"]
    counts = count_cases(label, paths[0] if paths else "", filtered)
    status = result.get("status", "NO_STATUS")
    if status != "PASSED" and not counts.failed:
        counts.fail(f"{label}: {status}")
    if (result.get("cachedLocally") or
            result.get("executionInfo", {}).get("cachedRemotely")):
        counts.fail(f"{label}: its result is from a cache")
    return counts


def count(events):
    """Returns the Counts of a whole invocation."""
    tests = set()
    incompatible = set()
    results = {}  # (label, run, shard) -> (attempt, event)
    filtered = False
    for event in events:
        identity = event["id"]
        if "configured" in event:
            kind = event["configured"].get("targetKind", "")
            if kind.endswith("_test rule"):
                tests.add(identity["targetConfigured"]["label"])
        elif event.get("aborted", {}).get("reason") == "SKIPPED":
            incompatible.add(identity.get("targetCompleted", {}).get("label"))
        elif "testResult" in event:
            key = identity["testResult"]
            shard = (key["label"], key.get("run", 1), key.get("shard", 1))
            attempt = key.get("attempt", 1)
            if attempt >= results.get(shard, (0,))[0]:
                results[shard] = (attempt, event["testResult"])
        elif "optionsParsed" in event:
            filtered = any(
                option.startswith("--test_filter")
                for option in event["optionsParsed"].get("cmdLine", []))
    counts = Counts()
    for (label, _, _), (_, result) in results.items():
        counts.add(count_result(label, result, filtered))
    for label in tests - {label for label, _, _ in results}:
        if label in incompatible:
            counts.skip(label, "not for this configuration of the build")
        else:
            counts.fail(f"{label}: did not run")
    return counts


# --- Node.js -----------------------------------------------------------------


def count_tap(package, path, status):
    """Returns the Counts of what `node --test` wrote as TAP.

    package: the name to print; status: npm's exit status.
    """
    counts = Counts()
    totals = {}
    try:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                not_run = TAP_NOT_RUN.match(line)
                if not_run:
                    counts.skip(f"{package} {not_run[1]}", not_run[2])
                words = line.split()
                # The totals stand alone: "# pass 12". A case that prints the
                # like comes before them, and they are the last.
                if line.startswith("# ") and len(words) == 3:
                    totals[words[1]] = words[2]
        counts.passed = int(totals["pass"])
        failed = int(totals["fail"]) + int(totals["cancelled"])
    except (OSError, KeyError, ValueError):
        counts.passed = 0
        counts.fail(f"{package}: no complete results")
        return counts
    if failed:
        counts.fail(f"{package}: cases in its output", failed)
    elif counts.passed == 0 and not counts.skipped:
        counts.fail(f"{package}: executed no case")
    elif status != 0:
        counts.fail(f"{package}: npm's exit status {status}")
    return counts


# --- pytest ------------------------------------------------------------------

# Status if PyPI cannot be reached: bin/lib.sh.
NO_PYPI = 69


def count_pytest(path, status):
    """Returns the Counts of what pytest wrote as JUnit's XML."""
    counts = Counts()
    if status == NO_PYPI:
        counts.skip("tests/python", "PyPI cannot be reached")
        return counts
    try:
        cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        counts.fail("tests/python: no results that can be read")
        return counts
    for case in cases:
        name = f"tests/python {case.get('classname')}.{case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            counts.fail(name)
        elif case.find("skipped") is not None:
            counts.skip(name, case.find("skipped").get("message", ""))
        else:
            counts.passed += 1
    if not cases:
        counts.fail("tests/python: executed no case")
    elif status != 0 and not counts.failed:
        counts.fail(f"tests/python: pytest's exit status {status}")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bazel_status", type=int, default=0)
    parser.add_argument("--npm", nargs=3, action="append", default=[],
                        metavar=("PACKAGE", "FILE", "STATUS"),
                        help="a run of npm test: file of node --test "
                        "--test-reporter=tap, and npm's exit status")
    parser.add_argument("--pytest", nargs=2, action="append", default=[],
                        metavar=("FILE", "STATUS"),
                        help="a run of pytest: file of --junitxml, and its "
                        "exit status")
    parser.add_argument("events", help="file of --build_event_json_file")
    arguments = parser.parse_args()
    counts = count(read_events(arguments.events))
    if not counts.failed and arguments.bazel_status not in (0, NO_TESTS_FOUND):
        # Before there were targets, for instance.
        counts.fail(f"Bazel's exit status {arguments.bazel_status}")
    for package, path, status in arguments.npm:
        counts.add(count_tap(package, path, int(status)))
    for path, status in arguments.pytest:
        counts.add(count_pytest(path, int(status)))
    if not (counts.passed or counts.failed or counts.skipped):
        counts.fail("executed no case")
    print("\n".join(counts.report()))
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main())
