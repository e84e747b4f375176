"""No output of any command takes the place of what took hours to make."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

# Commands with an output, at OUT; the option or argument that it is; and the
# file that it may replace or go on with, if any. V stands for --variant and
# one; STORE, BOOK and GAME are files that a command may read.
OUTPUTS = [
    ('arena V random greedy --html OUT', '--html', ''),
    ('arena V random greedy --store OUT', '--store', ''),
    ('arena V random engine:/bin/cat,log=OUT --games 2', 'log=', ''),
    ('crossplay V random greedy --html OUT', '--html', ''),
    ('crossplay V random greedy --store OUT', '--store', ''),
    ('rate V random greedy --html OUT', '--html', ''),
    ('rate V random greedy --store OUT', '--store', ''),
    ('balance V --player random --html OUT', '--html', ''),
    ('balance V --player random --store OUT', '--store', ''),
    ('stats V --html OUT', '--html', ''),
    ('selfplay V -o OUT', '--output', 'games.db'),
    ('explore build V OUT', 'BOOK', 'book.db'),
    ('explore show V BOOK --html OUT', '--html', ''),
    ('games export STORE -o OUT', '--output', 'games.jsonl'),
    ('review GAME --html OUT', '--html', ''),
    ('review GAME --notes OUT', '--notes', 'games.jsonl'),
    ('export RUN -o OUT', '--output', 'net.tara'),
]
OPTIONS = ('--html', '--notes', '--output', '--store')

# The beginning of a file says what it is.
FILES = {
    'kept.db-wal': 'a log',
    'net.tara': 'PK\x03\x04...',
    'checkpoints/ckpt-000001.pt': 'TaraNet\n...',
    'checkpoints/latest': 'ckpt-000001.pt\n',
    'tensorboard/events.out.tfevents.1': '...',
    'config.textproto': 'seed: 1\n',
    'state.textproto': 'plan { begin: 1 }\n',
    'metrics.jsonl': '{"event":"note"}\n',
    'lock': '',
}


def tara(command):
    return subprocess.run(['tara/cli/tara', *command.split()],
                          stdin=subprocess.DEVNULL,
                          capture_output=True,
                          text=True,
                          check=False)


def output_of(command):
    result = tara(command)
    assert result.returncode == 0, result.stderr
    return result.stdout


def commands_in(text):
    """Returns the names in the list of commands of a help text."""
    listed = re.search('^Commands:\n(.*?)\n\n', text, re.DOTALL | re.MULTILINE)
    return re.findall(r'^  (\S+)', listed[1], re.MULTILINE) if listed else []


class OutputsTest(unittest.TestCase):
    """Files of each kind, in a folder of their own, that of a run."""

    def setUp(self):
        folder = pathlib.Path(
            tempfile.mkdtemp(dir=os.environ.get('TEST_TMPDIR')))
        # Read by the commands: none of them is refused as such a file.
        self.read = {
            'STORE': folder / 'games.db',
            'BOOK': folder / 'book.db',
            'GAME': folder / 'games.jsonl'
        }
        self.run_folder = folder / 'run'
        output_of('selfplay --variant four_treasures --games 1 --sims 1 -o '
                  f'{folder}/games.db')
        output_of(f'explore build {folder}/book.db --games {folder}/games.db')
        output_of(f'games export {folder}/games.db -o {folder}/games.jsonl')
        for name, text in FILES.items():
            path = self.run_folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for path in self.read.values():
            shutil.copy(path, self.run_folder / path.name)
        self.files = self.files_here()
        shutil.copy(self.read['STORE'], self.run_folder / 'kept.db')

    def files_here(self):
        return sorted(path.relative_to(self.run_folder).as_posix()
                      for path in self.run_folder.rglob('*')
                      if path.is_file())

    def expect_refused(self, command, path):
        """Expects an error that names the path, and nothing changed."""
        before = self.files_here()
        contents = path.read_bytes() if path.is_file() else b''
        variant = ('four_treasures_doubles'
                   if command.startswith('crossplay') else 'four_treasures')
        words = {**self.read, 'V': f'--variant {variant}',
                 'OUT': path, 'RUN': self.run_folder}
        result = tara(
            re.sub(r'\b[A-Z]+\b', lambda match: str(words[match[0]]), command))
        self.assertEqual((result.returncode, result.stdout), (1, ''))
        self.assertIn(str(path), result.stderr)
        self.assertEqual(self.files_here(), before)
        if path.is_file():
            self.assertEqual(path.read_bytes(), contents)

    def test_nothing_of_taras_is_replaced_by_anything_else(self):
        self.assertLessEqual({'games.db', 'checkpoints/latest'},
                             set(self.files))
        for command, _, own in OUTPUTS:
            for name in self.files:
                if name != own:
                    with self.subTest(command=command, name=name):
                        self.expect_refused(command, self.run_folder / name)

    def test_a_pipe_is_refused_and_nothing_is_made_beside_it(self):
        pipe = self.run_folder / 'pipe'
        os.mkfifo(pipe)
        for command, option, _ in OUTPUTS:
            # What is logged may go to a terminal.
            if option != 'log=':
                with self.subTest(command):
                    self.expect_refused(command, pipe)

    def test_all_outputs_are_here(self):
        """A new output has a row above."""
        commands = commands_in(output_of('--help'))
        for command in commands:
            commands += [f'{command} {below}' for below in
                         commands_in(output_of(f'{command} --help'))]
        self.assertLessEqual({'arena', 'games export'}, set(commands))
        for command in commands:
            text = output_of(f'{command} --help')
            for option in OPTIONS:
                # As an option, and not in an example.
                if f'{option} FILE' in text or f'{option} DB' in text:
                    self.assertTrue(
                        any(row.startswith(command + ' ') and option == of
                            for row, of, _ in OUTPUTS), f'{command} {option}')

    def test_a_network_is_a_file(self):
        pipe = self.run_folder / 'pipe'
        os.mkfifo(pipe)
        new = self.run_folder / 'new'
        for path in (pipe, '/dev/zero'):
            for command in (
                    f'arena --variant four_treasures random net:{path}',
                    f'selfplay --variant four_treasures -o {new}.db --player '
                    f'{path}', f'export {path} -o {new}.tara'):
                result = tara(command)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(f'{path}: a device or a pipe', result.stderr)
