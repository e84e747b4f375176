#!/usr/bin/env python3
"""Every relative link of the documents points at a file that exists, every
#anchor at a heading, and every Bazel target that a document or script names
exists.

The documents are README.md, CONTRIBUTING.md, CHANGELOG.md and docs/**/*.md.
Links inside of code are none, and those to other servers are not followed.
"""

import itertools
import os
import pathlib
import re
import unittest

FENCE = re.compile(r'^\s*(```|~~~)')
HEADING = re.compile(r'^(#{1,6})\s+(.*?)\s*#*\s*$')
INLINE_CODE = re.compile(r'(`+)(?!`).*?(?<!`)\1(?!`)', re.DOTALL)
# [text](target), [text](target "title"); a text may hold an image.
LINK = re.compile(r'\]\(\s*<?([^\s<>()]+)>?(?:\s+"[^"]*")?\s*\)')
REFERENCE = re.compile(r'^\s{0,3}\[[^\]]+\]:\s+<?(\S+?)>?\s*$', re.MULTILINE)
HTML = re.compile(r'<(?:a|img)\s[^>]*?(?:href|src)="([^"]+)"')
# A scheme, such as https: or mailto:.
ELSEWHERE = re.compile(r'^[a-zA-Z][a-zA-Z0-9+.-]*:')

# A Bazel target or pattern: //package, //package:target, //folder/...,
# //package:{one,other}_test.
TARGET = re.compile(r'(?<![\w:/.-])//([a-z][\w/]*?)'
                    r'(/\.\.\.|:((?:\w|\.\w|{[\w,]+})+))?'
                    r'(?![\w/:{])')
BRACES = re.compile(r'\{([^}]*)\}')


def without_code(text):
    """Returns the text with its code blocks and code spans left out."""
    lines = []
    fenced = False
    for line in text.split('\n'):
        if FENCE.match(line):
            fenced = not fenced
            line = ''
        lines.append('' if fenced else line)
    return INLINE_CODE.sub('', '\n'.join(lines))


def slug(heading):
    """Returns the anchor that GitHub gives to a heading."""
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', heading)
    text = re.sub(r'[^\w\- ]', '', text.lower())
    return text.replace(' ', '-')


def anchors(text):
    """Returns the anchors of a document."""
    found = set()
    fenced = False
    for line in text.split('\n'):
        if FENCE.match(line):
            fenced = not fenced
        match = None if fenced else HEADING.match(line)
        if match is None:
            continue
        base = slug(match.group(2))
        name = base
        repeated = 0
        while name in found:
            repeated += 1
            name = f'{base}-{repeated}'
        found.add(name)
    return found


def links(text):
    """Returns the targets of a document's links, in their order."""
    plain = without_code(text)
    found = [(match.start(), match.group(1))
             for pattern in (LINK, REFERENCE, HTML)
             for match in pattern.finditer(plain)]
    return [target for _, target in sorted(found)]


def broken_links(root, documents):
    """Returns "FILE: LINK (reason)" of each broken link.

    `documents` are paths relative to `root`.
    """
    broken = []
    for document in documents:
        text = (root / document).read_text(encoding='utf-8')
        for link in links(text):
            if ELSEWHERE.match(link):
                continue
            path, _, anchor = link.partition('#')
            target = root / document
            if path:
                target = root / document.parent / path
            reason = None
            if not target.exists():
                reason = 'no such file'
            elif anchor and anchor not in anchors(
                    target.read_text(encoding='utf-8')):
                reason = 'no such heading'
            if reason is not None:
                broken.append(f'{document}: {link} ({reason})')
    return broken


def alternatives(name):
    """Returns the names that a shell makes of one with {a,b}."""
    parts = BRACES.split(name)
    choices = [part.split(',') if i % 2 else [part]
               for i, part in enumerate(parts)]
    return [''.join(choice) for choice in itertools.product(*choices)]


def missing_targets(root, paths):
    """Returns "FILE: TARGET" of each Bazel target that does not exist.

    `paths` are relative to `root`.
    """
    missing = []
    for path in paths:
        text = (root / path).read_text(encoding='utf-8')
        for package, pattern, names in TARGET.findall(text):
            folder = root / package
            build = folder / 'BUILD'
            if pattern == '/...':
                exists = folder.is_dir()
            elif not build.exists():
                exists = False
            else:
                rules = build.read_text(encoding='utf-8')
                # cc_tests makes a target of each file.
                exists = all(
                    f'"{name}"' in rules or (folder / f'{name}.cc').exists()
                    for name in alternatives(names or folder.name))
            if not exists:
                missing.append(f'{path}: //{package}{pattern}')
    return missing


def workspace():
    """Returns the folder of the project: links lead to any of its files."""
    runfiles = pathlib.Path(os.environ['TEST_SRCDIR'],
                            os.environ['TEST_WORKSPACE'])
    return (runfiles / 'WORKSPACE').resolve().parent


def documents_of(root):
    top = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
    paths = [root / name for name in top if (root / name).exists()]
    paths += sorted((root / 'docs').rglob('*.md'))
    return [path.relative_to(root) for path in paths]


class DocumentsTest(unittest.TestCase):

    def test_every_link_of_the_documents_points_at_something(self):
        root = workspace()
        documents = documents_of(root)
        self.assertGreater(len(documents), 10)
        self.assertGreater(
            sum(len(links((root / document).read_text(encoding='utf-8')))
                for document in documents), 100)
        broken = broken_links(root, documents)
        self.assertEqual(broken, [], '\n' + '\n'.join(broken))


class LinksTest(unittest.TestCase):

    def test_broken_links_are_found(self):
        root = pathlib.Path(os.environ['TEST_TMPDIR'])
        (root / 'docs').mkdir()
        (root / 'README.md').write_text(
            '# Here\n[a](docs/a.md#there) [b](docs/a.md#nowhere) [c](#here)\n'
            '[d](docs) [e](https://example.com/x.md) [f](#gone) `[g](h.md)`\n')
        (root / 'docs/a.md').write_text(
            '## There\n[up](../README.md)\n![missing](b.md "x")\n'
            '### 10.1 `self_play`, again\n### There\n'
            '[g](#101-self_play-again) [h](#there-1)\n'
            '```\n# no heading\n[i](j.md)\n```\n')
        self.assertEqual(
            broken_links(root, documents_of(root)), [
                'README.md: docs/a.md#nowhere (no such heading)',
                'README.md: #gone (no such heading)',
                'docs/a.md: b.md (no such file)',
            ])


class TargetsTest(unittest.TestCase):

    def test_every_target_of_documents_and_scripts_exists(self):
        root = workspace()
        scripts = [root / '.ci/run', *(root / 'bin').iterdir(),
                   *(root / 'tools').glob('*.sh')]
        # What was measured once may name what is gone since.
        paths = [path for path in documents_of(root)
                 if path.parent.name != 'lab']
        paths += [path.relative_to(root) for path in scripts]
        self.assertEqual(missing_targets(root, paths), [])

    def test_missing_targets_are_found(self):
        root = pathlib.Path(os.environ['TEST_TMPDIR'], 'targets')
        (root / 'a/b').mkdir(parents=True)
        (root / 'a/b/BUILD').write_text('name = "b"')
        (root / 'a/b/one_test.cc').touch()
        (root / 'text').write_text(
            'bin/test //a/... //a/b //a/b:one_test //a/b:{one,two}_test '
            '`//a/c`, //a/d:x, (//d/...) https://example.com/x a//b // no')
        self.assertEqual(missing_targets(root, [pathlib.Path('text')]), [
            'text: //a/b:{one,two}_test',
            'text: //a/c',
            'text: //a/d:x',
            'text: //d/...',
        ])


if __name__ == '__main__':
    unittest.main()
