"""Which layer of tara/ may include what, which room of a layer, and in which
namespace a layer defines its names: the design, as data; a test of all sources
against it; and a test of that test."""

import os
import pathlib
import re
import unittest

# What a folder under tara/ may use of ours: other folders under tara/, and
# "proto" for the generated messages. Layers are in an order in which each uses
# only earlier ones.
LAYERS = {
    'base': '',
    'core': 'base',
    'record': 'base core proto',
    'fleet': 'base core record proto',
    'mcts': 'base core',
    'nn': 'base core mcts proto',
    'train': 'base core record fleet mcts nn proto',
    'eval': 'base core record fleet mcts nn proto',
    'engine': 'base core record mcts nn proto',
    'python': 'base core record fleet mcts nn train eval proto',
    'cli': 'base core record fleet mcts nn train eval engine proto',
}

# Folders of a layer, and which other rooms of the layer each may use, in such
# an order too. Files of the layer that are in no room are for all rooms, and
# use none. In layers without rooms nothing is asked of the folders.
ROOMS = {
    'mcts': {
        'choice': '',
        'options': 'choice',
        'tree': 'choice options',
        'time': 'choice',
        'solver': 'options',
        'levels': 'choice options tree',
        'evaluators': '',
        'search': 'options tree time solver levels evaluators',
    },
    'nn': {
        'encode': '',
        'weights': 'encode',
        'cpu': 'encode weights',
        'torch': 'encode weights cpu',
        'training': 'encode weights cpu torch',
        'light': 'encode weights cpu torch training',
        'bundle': 'encode weights cpu light',
        'inference': 'encode weights cpu torch bundle light',
    },
    'train': {
        'play': '',
        'learn': '',
        'config': 'play learn',
        'folder': 'play learn config',
        'progress': 'play',
        'run': 'play learn config folder progress',
    },
    'eval': {
        'statistics': '',
        'report': 'statistics',
        'alpha_beta': '',
        'players': 'alpha_beta',
        'arena': 'statistics report players',
        'rating': 'statistics report players arena',
        'balance': 'statistics report players arena',
        'book': 'statistics report',
        'playouts': 'statistics report',
        'puzzles': 'players',
        'review': 'report',
    },
}

# Headers of others that only some files may include: a pattern of the included
# path, and the folders, layers or rooms.
WITH_THREADS = 'base record fleet mcts nn train eval engine python cli'
RESTRICTIONS = {
    # 10-20 s and 1 GB for each file that sees it.
    'LibTorch': ('torch/.*|ATen/.*|c10/.*',
                 'nn/torch nn/training nn/light nn/inference'),
    'ONNX': ('onnx/.*', 'nn/bundle'),
    'libzip': ('zip.h', 'nn/bundle'),
    'SQLite': ('sqlite3.h', 'base'),
    'Eigen': ('(unsupported/)?Eigen/.*', 'eval/rating'),
    'Protobuf': ('google/protobuf/.*',
                 'record nn train eval engine python cli'),
    # The core has neither threads nor files.
    'a thread or file header': (
        'absl/synchronization/.*|condition_variable|filesystem|fstream|future|'
        'mutex|shared_mutex|thread', WITH_THREADS),
    'pybind11': ('pybind11/.*', 'python'),
}

# What is easily done wrong has one place: JSON from outside may nest too deep
# and have names twice; these functions take hexadecimal numbers.
PLACES = {
    'json::parse(': 'tara/base/json.cc',
    'Json::parse(': 'tara/base/json.cc',
    'json::accept(': 'tara/base/json.cc',
    'SimpleAtod(': 'tara/base/text.cc',
    'SimpleAtof(': 'tara/base/text.cc',
}

INCLUDE = re.compile(r'\s*#\s*include\s*[<"]([^>"]*)')
NAMESPACE = re.compile(r'namespace (\S+) \{$')
FORWARD = re.compile(r'\s*((class|struct) [^{]*;\s*)?(//.*)?$')
TYPE = re.compile(r'(?:class|struct|enum class|enum) (?:alignas\(\w+\) )?'
                  r'([\w:]+)(?!\w*<)')


def place_of(path):
    """Returns the layer and the room, or '', of "tara/mcts/tree/node.h"."""
    parts = path.split('/')
    if parts[0] != 'tara' or len(parts) < 3:
        return '', ''
    return parts[1], '/'.join(parts[2:-1])


def objection(path, included):
    """Returns why the file at a path may not include a header, or ''."""
    layer, room = place_of(path)
    used_layer, used_room = place_of(included)
    if used_layer == layer:
        rooms = ROOMS.get(layer)
        if rooms is None or not used_room or used_room == room:
            return ''
        if room not in rooms:
            return (f'which files of tara/{layer} that are in no room may not '
                    'use')
        if used_room in rooms[room].split():
            return ''
        return f'which tara/{layer}/{room} may not use'
    if included.startswith('proto/'):
        used_layer = 'proto'
    if used_layer and used_layer not in LAYERS[layer].split():
        return f'which tara/{layer} may not use'
    folder = f'{layer}/{room}' if room else layer
    for library, (pattern, folders) in RESTRICTIONS.items():
        if not re.fullmatch(pattern, included):
            continue
        if not {layer, folder} & set(folders.split()):
            return f'which is {library}: not for tara/{folder}'
        if (library == 'LibTorch' and path.endswith('.h') and
                not path.endswith('_torch.h')):
            return f"which is {library}: only for sources and nn's *_torch.h"
    return ''


def include_violations(path, source):
    """Returns "PATH:LINE: includes X, which ..." for each #include that the
    layer or room of a file may not have."""
    layer, room = place_of(path)
    if layer not in LAYERS:
        return [f'{path}: tara/{layer} is not a layer']
    if room and room not in ROOMS.get(layer, {room: ''}):
        return [f'{path}: tara/{layer}/{room} is not a room']
    violations = []
    for number, line in enumerate(source.split('\n'), 1):
        match = INCLUDE.match(line)
        why = objection(path, match[1]) if match else ''
        if why:
            violations.append(f'{path}:{number}: includes {match[1]}, {why}')
    return violations


def is_namespace_of(layer, name):
    if layer in ('base', 'core'):
        return name == 'tara' or (name.startswith('tara::') and
                                  name.split('::')[1] not in LAYERS)
    return name.split('::')[:2] == ['tara', layer]


def namespace_violations(path, source):
    """Returns "PATH:LINE: ..." for each namespace that a source opens at the
    beginning of a line and that is not its layer's: `tara` for base and core,
    `tara::LAYER` for the others, or one within. Forward declarations alone may
    stand in a namespace of others."""
    layer = place_of(path)[0]
    violations = []
    lines = source.split('\n')
    inside = False  # a namespace of the layer, so that names are within
    for i, line in enumerate(lines):
        if line.startswith('}  // namespace tara'):
            inside = False
        match = NAMESPACE.match(line)
        if not match or inside:
            continue
        # Types become arguments of Python functions by specializations there.
        if layer == 'python' and match[1] == 'pybind11::detail':
            continue
        inside = is_namespace_of(layer, match[1])
        end = next((j for j in range(i + 1, len(lines))
                    if lines[j].startswith('}')), len(lines))
        if not inside and not all(map(FORWARD.match, lines[i + 1:end])):
            violations.append(f'{path}:{i + 1}: namespace {match[1]} is not of '
                              f'tara/{layer}')
    return violations


def type_definitions(source):
    """Returns the full names of the classes, structs and enums that a source
    defines in named namespaces, nested types left out. A definition begins at
    the beginning of a line and has its brace before any semicolon."""
    types = []
    scopes = []  # of namespaces; '' if anonymous
    lines = [line.split('//')[0] if not line.startswith('}') else line
             for line in source.split('\n')]
    for i, line in enumerate(lines):
        if line == 'namespace {':
            scopes.append('')
        elif NAMESPACE.match(line):
            scopes.append(NAMESPACE.match(line)[1])
        elif line.startswith('}  // namespace') and scopes:
            scopes.pop()
        match = TYPE.match(line)
        if match is None or '' in scopes:
            continue
        if re.match('[^;{]*{', '\n'.join(lines[i:i + 20])):
            types.append('::'.join([*scopes, match[1]]))
    return types


class SourcesTest(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        runfiles = pathlib.Path(os.environ['TEST_SRCDIR'],
                                os.environ['TEST_WORKSPACE'])
        root = (runfiles / 'WORKSPACE').resolve().parent
        cls.sources = {
            path.relative_to(root).as_posix(): path.read_text(encoding='utf-8')
            for path in sorted((root / 'tara').rglob('*'))
            if path.suffix in ('.h', '.cc')
        }

    def expect_none(self, violations):
        self.assertEqual(violations, [], '\n' + '\n'.join(violations))

    def test_no_source_includes_what_its_layer_may_not(self):
        self.assertGreater(len(self.sources), 200)
        for path, source in self.sources.items():
            self.expect_none(include_violations(path, source))

    def test_each_layer_defines_its_names_in_its_namespace(self):
        for path, source in self.sources.items():
            self.expect_none(namespace_violations(path, source))

    def test_what_parses_text_from_outside_is_in_one_place(self):
        self.expect_none([
            f'{path} calls {call}); expected what {place} defines'
            for path, source in self.sources.items()
            for call, place in PLACES.items()
            if call in source and path != place
        ])

    def test_no_type_is_defined_twice(self):
        """Two definitions of one name in one program are undefined behaviour
        that no linker reports (the one definition rule)."""
        defined_in = {}
        for path, source in self.sources.items():
            for name in type_definitions(source):
                self.assertNotIn(name, defined_in,
                                 f'{path} and {defined_in.get(name)}')
                defined_in[name] = path
        for name in ('tara::State', 'tara::mcts::Tree', 'tara::train::Opening',
                     'tara::eval::Opening'):
            self.assertIn(name, defined_in)

    def test_no_layer_or_room_depends_on_itself(self):
        for uses in [LAYERS, *ROOMS.values()]:
            earlier = {'proto'}
            for name, used in uses.items():
                self.assertLessEqual(set(used.split()), earlier, name)
                earlier.add(name)


class ChecksTest(unittest.TestCase):

    def expect(self, check, cases):
        """Of each case: a path, a source, and a part of the only violation; '':
        none."""
        for path, source, violation in cases:
            with self.subTest(path=path, source=source):
                found = check(path, source)
                self.assertEqual(len(found), 1 if violation else 0, found)
                if violation:
                    self.assertIn(violation, found[0])

    def test_what_a_layer_or_room_may_not_include_is_found(self):
        torch = '  # include <torch/torch.h>  // Slow.'
        tree = '#include "tara/mcts/tree/tree.h"\n'
        self.expect(include_violations, [
            # Lower layers, the own one and those without rooms.
            ('tara/mcts/tree/tree.h',
             '#include <vector>\n#include "absl/types/span.h"\n'
             '#include "tara/base/check.h"\n#include "tara/core/state.h"\n'
             '#include "tara/mcts/evaluator.h"\n'
             '#include "tara/mcts/options/text.h"\n'
             '#include "tara/mcts/tree/node.h"\n', ''),
            ('tara/core/state.h',
             '// A comment.\n#include "tara/mcts/utility.h"\n',
             'tara/core/state.h:2: includes tara/mcts/utility.h, which '
             'tara/core may not use'),
            # Rooms, and files in none. Layers above may use all rooms.
            ('tara/mcts/tree/tree.h', '#include "tara/mcts/search/a.h"\n',
             'which tara/mcts/tree may not use'),
            ('tara/mcts/evaluator.h', tree, 'in no room may not use'),
            ('tara/eval/players/a.h', tree, ''),
            ('tara/misc/a.h', '', 'tara/misc is not a layer'),
            ('tara/mcts/misc/a.h', '', 'tara/mcts/misc is not a room'),
            ('tara/core/misc/a.h', '', ''),
            ('tara/eval/a.cc', '#include "tara/train/b.h"', 'may not use'),
            ('tara/train/a.cc', '#include "tara/eval/b.h"', 'may not use'),
            # Libraries.
            ('tara/core/a.cc', '#include "proto/game.pb.h"', 'may not use'),
            ('tara/record/a.h', '#include "proto/game.pb.h"', ''),
            ('tara/mcts/a.cc', '#include <google/protobuf/message.h>',
             'Protobuf'),
            ('tara/nn/torch/net.cc', torch, ''),
            ('tara/nn/torch/net_torch.h', torch, ''),
            ('tara/nn/torch/net.h', torch, 'LibTorch'),
            ('tara/nn/cpu/net_torch.h', torch, 'LibTorch'),
            ('tara/cli/main.cc', torch, 'LibTorch'),
            ('tara/base/a.cc', '#include <sqlite3.h>', ''),
            ('tara/eval/arena/a.cc', '#include <sqlite3.h>', 'SQLite'),
            ('tara/eval/rating/a.cc', '#include <Eigen/Dense>', ''),
            ('tara/eval/arena/a.cc', '#include <Eigen/Dense>',
             'not for tara/eval/arena'),
            ('tara/mcts/a.cc', '#include <thread>', ''),
            ('tara/core/a.cc', '#include <thread>', 'not for tara/core'),
        ])

    def test_the_namespace_of_the_layer_is_demanded(self):
        pybind11 = ('namespace pybind11::detail {\nstruct A {};\n'
                    '}  // namespace pybind11::detail\n')
        self.expect(namespace_violations, [
            ('tara/core/a.h',
             'namespace tara {\n}  // namespace tara\n'
             'namespace tara::batch {\n', ''),
            ('tara/train/a.cc',
             'namespace tara::train {\nnamespace {\n}  // namespace\n'
             'namespace internal {\n}  // namespace internal\n'
             '}  // namespace tara::train\nnamespace tara::train::b {\n', ''),
            ('tara/train/a.cc', '// Comment.\nnamespace tara {\nint a;\n',
             'tara/train/a.cc:2: namespace tara is not of tara/train'),
            ('tara/train/a.cc', 'namespace tara::training {\nint a;\n',
             'tara::training is not of tara/train'),
            ('tara/core/a.cc', 'namespace tara::eval {\nint a;\n',
             'tara::eval is not of tara/core'),
            # Python teaches pybind11 its types.
            ('tara/python/a.h', pybind11, ''),
            ('tara/cli/a.h', pybind11, 'pybind11::detail is not of tara/cli'),
            # Forward declarations of others.
            ('tara/nn/a.h',
             'namespace tara {\n\nstruct State;  // state.h\n\n'
             '}  // namespace tara\nnamespace google::protobuf {\n'
             'class Message;\n}  // namespace google::protobuf\n', ''),
        ])

    def test_types_in_named_namespaces_are_found(self):
        self.assertEqual(
            type_definitions('namespace tara::a {\nclass Declared;\n'
                             'struct A {\n  struct Nested {};\n};\n'
                             'class LongName::Impl\n    : public Base {\n};\n'
                             'enum class E : uint8_t { kA };\n'
                             'template <typename T>\nstruct alignas(64) B {};\n'
                             'template <>\nstruct B<int> {};\n'
                             'namespace {\nstruct Hidden {};\n}  // namespace\n'
                             'namespace inner {\nstruct C final : A {};\n'
                             '}  // namespace inner\n'
                             '}  // namespace tara::a\n'),
            ['tara::a::A', 'tara::a::LongName::Impl', 'tara::a::E',
             'tara::a::B', 'tara::a::inner::C'])
