#!/usr/bin/env python3
"""Writes compile_commands.json, which clangd, clang-tidy and editors read.

  tools/compile_commands.py                  # all C++ files
  tools/compile_commands.py //tara/core/...  # the files of some targets

Asks Bazel for the compiler's command lines (`bazel aquery`, which compiles
nothing). Generated headers, such as those of proto files, are found once
they have been built. Standard library only.
"""

import json
import os
import subprocess
import sys

# What only g++ takes.
GCC_ONLY = {'-fno-canonical-system-headers', '-Wno-restrict'}


def bazel(*arguments):
    """Returns the standard output of a Bazel command run in the workspace."""
    return subprocess.run(['bazel', *arguments], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def source_of(arguments):
    """Returns the source file of a compilation, or None."""
    if '-c' not in arguments:
        return None
    return arguments[arguments.index('-c') + 1]


def absolute(argument, external):
    """Returns an argument with paths of external repositories made absolute."""
    for flag in ('', '-I', '-isystem'):
        if argument.startswith(flag + 'external/'):
            return flag + external + argument[len(flag + 'external'):]
    return argument


def entries(actions, workspace, external):
    """Returns the entries of the database: one for each source file."""
    by_file = {}
    for action in actions:
        arguments = action.get('arguments', [])
        source = source_of(arguments)
        # Tools of the build are compiled in a configuration of their own.
        output = arguments[arguments.index('-o') + 1] if source else ''
        if source is None or '-exec-' in output or '/host/' in output:
            continue
        arguments = [absolute(argument, external) for argument in arguments
                     if argument not in GCC_ONLY]
        file = os.path.join(workspace, absolute(source, external))
        by_file.setdefault(file, {
            'directory': workspace, 'file': file, 'arguments': arguments})
    return [by_file[file] for file in sorted(by_file)]


def main():
    """Writes the file and prints how many sources are in it."""
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    targets = ' + '.join(sys.argv[1:] or ['//...'])
    workspace = os.getcwd()
    external = os.path.join(bazel('info', 'output_base'), 'external')
    graph = json.loads(bazel('aquery', '--output=jsonproto',
                             '--ui_event_filters=-info', '--noshow_progress',
                             f'mnemonic("CppCompile", {targets})'))
    database = entries(graph.get('actions', []), workspace, external)
    with open('compile_commands.json', 'w', encoding='utf-8') as file:
        json.dump(database, file, indent=1)
        file.write('\n')
    print(f'compile_commands.json: {len(database)} files')


if __name__ == '__main__':
    sys.exit(main())
