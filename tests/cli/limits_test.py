"""Commands that the system gives too little of something: memory, threads,
descriptors, calls of its file system. Each of them does its work, or ends with
a message and status 1."""

import errno
import json
import os
import pathlib
import re
import shlex
import subprocess
import tempfile
import unittest

# Threads have stacks as large as that of the process may become, and this is
# more than all of its memory: there can be none.
NO_THREADS = '-s 8000000 && ulimit -v 4000000'

LINES = 'variant four_treasures\ngenmove\nanalyze simulations 300\nquit\n'
REQUESTS = ('{"id":1,"variant":"four_treasures","simulations":300}\n'
            '{"id":2,"command":"query_version"}\n')

# Short runs of the commands, by their first words; FOLDER is a folder of the
# test's own. Of those that need a run or a file of games there is the error for
# a missing one.
COMMANDS = [
    'play --variant four_treasures --opponent random',
    'train FOLDER/none.textproto',
    'arena --variant four_treasures random mcts:sims=20 --games 8 --threads 4',
    'crossplay --variant sacred_hill_doubles_l1 random greedy --games 8',
    'rate random greedy --variant four_treasures --games 8',
    'selfplay --variant four_treasures --player mcts --sims 20 --games 4 '
    '-o FOLDER/games.db',
    'balance --variant four_treasures --player mcts:sims=4 --games 4 '
    '--threads 3',
    'puzzles --variant four_treasures --player random --games 1 --puzzles 1',
    'review FOLDER/none.jsonl',
    'explore build FOLDER/book.db --variant four_treasures --player '
    'mcts:sims=20 --positions 30',
    'engine --model playouts --search sims=300',
    'engine --json --model playouts --search sims=300 --threads 3',
    'export FOLDER/none -o FOLDER/none.tara',
    'fleet-worker FOLDER/none',
    'model FOLDER/none.tara',
    'games list FOLDER/none.db',
    'show --variant sacred_hill_l1',
    'solve --variant four_treasures --node-limit 2k',
    'levels',
    'variants',
    'verify FOLDER/none.jsonl',
    'perft --variant four_treasures --depth 3',
    'stats --variant four_treasures --games 50k --threads 3',
    'web --run FOLDER/none',
    'bench core --threads 2 --variant four_treasures --seconds 0.01',
]
ARENA = COMMANDS[2]
STATS = 'stats --variant four_treasures --games 50k --threads 3'


def run(command, limits='', text='', **environment):
    """Runs a command line of `tara`, under limits of the shell's `ulimit`."""
    # The shell may not open files any more once it is limited.
    limited = f'ulimit {limits} && ' if limits else ''
    return subprocess.run(
        ['sh', '-c', f'{limited}exec tara/cli/tara {command}'],
        input=text,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False)


class LimitsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get('TEST_TMPDIR'))

    def try_commands(self, limits, with_torch=False):
        """Runs all commands under limits."""
        for command in COMMANDS:
            # The libraries of these, LibTorch's, end the program before it
            # begins.
            if not with_torch and re.match('train|export|fleet', command):
                continue
            with self.subTest(limits=limits, command=command), \
                    tempfile.TemporaryDirectory() as folder:
                text = ''
                if command.startswith('engine'):
                    text = REQUESTS if '--json' in command else LINES
                result = run(command.replace('FOLDER', folder), limits, text)
                self.assertIn(result.returncode, (0, 1, 2), result.stderr)
                if result.returncode != 0:
                    self.assertIn('tara', result.stderr)
                self.assertNotIn('check failed', result.stderr)

    def test_every_command_is_tried(self):
        listed = re.search('Commands:\n(.*?)\n\n', run('--help').stdout,
                           re.DOTALL)[1]
        names = re.findall(r'^  (\S+)', listed, re.MULTILINE)
        self.assertGreaterEqual(len(names), 20)
        self.assertLessEqual(set(names),
                             {command.split()[0] for command in COMMANDS})

    def test_little_memory_ends_no_command_by_signal(self):
        # From what is too little for the program itself.
        limits = [limit for limit in ('-v 61440', '-v 92160', '-v 153600')
                  if run('variants', limit).returncode == 0]
        self.assertGreaterEqual(len(limits), 1)
        for limit in limits:
            self.try_commands(limit)

    def test_few_descriptors_end_no_command_by_signal(self):
        for files in (4, 6, 9):
            self.try_commands(f'-n {files}', with_torch=True)

    def test_without_threads_no_command_ends_by_signal(self):
        self.try_commands(NO_THREADS)
        # Those that can do with one do their work.
        for command in (ARENA, STATS):
            self.assertEqual(run(command, NO_THREADS).stdout,
                             run(command).stdout)
        # The engine cannot.
        self.assertIn('tara: no more threads can be made',
                      run('engine --model playouts', NO_THREADS, LINES).stderr)

    @unittest.skipIf(os.geteuid() == 0, 'root has as many as it likes')
    def test_without_processes_no_command_ends_by_signal(self):
        self.try_commands('-p 1')

    def test_no_engine_loses_for_want_of_descriptors(self):
        """What Tara itself has too little of is no engine's loss."""
        errors = 0
        for files in range(6, 41):
            result = run(
                'arena --variant four_treasures random "engine:tests/eval/'
                'fake_engine,start=300,move=300" --games 8 '
                '--threads 4 --format=json', f'-n {files}')
            if result.returncode == 0:
                self.assertNotIn('forfeits', json.loads(result.stdout)[0])
            else:
                errors += 1
                self.assertEqual(result.returncode, 1)
                self.assertIn('Too many open files', result.stderr)
        self.assertGreater(errors, 0)

    def test_an_engine_that_is_gone_is_an_error_of_the_match(self):
        """It ends in each game, and cannot be started for the fifth time."""
        engine = pathlib.Path(self.folder, 'engine')
        starts = pathlib.Path(self.folder, 'starts')
        engine.write_text(
            f'#!/bin/sh\necho >> {starts}\n'
            f'[ $(wc -l < {starts}) -ge 4 ] && rm "$0"\n'
            'exec tests/eval/fake_engine --fault exit\n')
        engine.chmod(0o700)
        result = run(f'arena --variant four_treasures random engine:{engine},'
                     'start=300,move=300 --games 40 --threads 1')
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"cannot start '{engine}': No such file", result.stderr)


class FileSystemsTest(unittest.TestCase):
    """Commands that write, on file systems of networks and containers: calls
    fail there that do not on a disk (tests/base/failing_calls.cc)."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get('TEST_TMPDIR'))

    def writers(self):
        """Yields commands, in an order in which they read what others have
        written; the file that is there afterwards; and whether it locks a file
        for itself, writes or reads a database, and writes files that are whole
        or not there."""
        for command, name, *does in (
            ('selfplay --variant four_treasures --games 1 --sims 1 -o AT/'
             'games.db', 'games.db', 'locks', 'database'),
            ('explore build AT/book.db --games AT/games.db', 'book.db', 'locks',
             'database'),
            ('arena --variant four_treasures random greedy --games 2 --store '
             'AT/match.db --html AT/match.html', 'match.html', 'database',
             'replaces'),
            ('games export AT/games.db -o AT/games.jsonl', 'games.jsonl',
             'database', 'replaces'),
            ('review AT/games.jsonl --player mcts:sims=2 --nodes 100 --notes '
             'AT/notes.jsonl', 'notes.jsonl', 'replaces'),
            ('train configs/tiny.textproto --set generations=1 --set '
             'self_play.search.simulations=2 --set evaluation.final_games=2 '
             '--set run_dir=AT/run', 'run/checkpoints/ckpt-000001.pt', 'locks',
             'database', 'replaces'),
            ('export AT/run -o AT/net.tara', 'net.tara', 'replaces')):
            with self.subTest(command):
                yield (command.replace('AT', shlex.quote(self.folder)),
                       pathlib.Path(self.folder, name), does)

    def run_failing(self, command, call, error):
        """Runs a command in which calls fail."""
        # With --config=asan; its library wants to be the first.
        asan = os.environ.get('ASAN_OPTIONS', '') + ':verify_asan_link_order=0'
        # Absolute, for the program that this one becomes.
        library = os.path.abspath('tests/base/failing_calls.so')
        return run(command, LD_PRELOAD=library, ASAN_OPTIONS=asan,
                   **{call: str(error)})

    def expect_success(self, command):
        result = run(command)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_calls_that_are_interrupted_or_unknown_stop_no_writer(self):
        for call, error in (('FAIL_OFTEN', errno.EINTR),
                            ('FAIL_FSYNC_FOLDER', errno.EINVAL),
                            ('FAIL_FSYNC_FOLDER', errno.ENOTSUP),
                            ('FAIL_FLOCK', errno.ENOSYS),
                            ('FAIL_FLOCK', errno.ENOLCK),
                            ('FAIL_FLOCK', errno.ENOTSUP)):
            self.setUp()
            for command, file, does in self.writers():
                result = self.run_failing(command, call, error)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(file.exists())
                if 'locks' in does and call == 'FAIL_FLOCK':
                    self.assertIn('cannot be locked', result.stderr)
                else:
                    self.assertNotIn('cannot', result.stderr)

    def test_a_folder_that_the_disk_does_not_take_is_an_error(self):
        for command, _, does in self.writers():
            result = self.run_failing(command, 'FAIL_FSYNC_FOLDER', errno.EIO)
            replaces = 'replaces' in does
            self.assertEqual(result.returncode, int(replaces), result.stderr)
            if replaces:
                self.assertIn('cannot sync the folder', result.stderr)
                # For those that read what it writes.
                self.expect_success(command)

    def test_that_there_are_no_locks_for_a_store_is_said_at_once(self):
        for command, _, does in self.writers():
            if 'database' in does:
                result = self.run_failing(command, 'FAIL_LOCKS', errno.ENOLCK)
                self.assertEqual(result.returncode, 1)
                self.assertIn('its file system has no locks', result.stderr)
            self.expect_success(command)
