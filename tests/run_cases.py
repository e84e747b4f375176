#!/usr/bin/env python3
"""Runs the unittest cases of a file as a Bazel test, and tells Bazel which have
passed, failed or been skipped: run_cases.py FILE."""

import importlib.util
import os
import sys
import unittest
import xml.etree.ElementTree as ElementTree


class Result(unittest.TextTestResult):
    """Keeps the names of the cases that were begun."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.begun = []

    def startTest(self, test):  # pylint: disable=invalid-name
        super().startTest(test)
        self.begun.append(test.id())


def write_xml(result, path):
    failed = {case.id().split(' ')[0]
              for case, _ in result.failures + result.errors}
    skipped = {case.id(): reason for case, reason in result.skipped}
    suite = ElementTree.Element('testsuite')
    # Failures of a set-up belong to no case that was begun.
    for name in dict.fromkeys([*result.begun, *failed]):
        group, _, short = name.rpartition('.')
        case = ElementTree.SubElement(suite, 'testcase', name=short,
                                      classname=group.rpartition('.')[2])
        if name in failed:
            ElementTree.SubElement(case, 'failure')
        elif name in skipped:
            # As GoogleTest has it: the place, then the reason.
            ElementTree.SubElement(case, 'skipped',
                                   message=f'{sys.argv[1]}\n{skipped[name]}')
    ElementTree.ElementTree(suite).write(path)


def main():
    spec = importlib.util.spec_from_file_location('cases', sys.argv[1])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    result = unittest.main(
        module, argv=sys.argv[1:], exit=False,
        testRunner=unittest.TextTestRunner(resultclass=Result)).result
    if path := os.environ.get('XML_OUTPUT_FILE'):
        write_xml(result, path)
    return 0 if result.wasSuccessful() and result.testsRun > 0 else 1


if __name__ == '__main__':
    sys.exit(main())
