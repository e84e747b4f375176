"""What every command does with wrong arguments, and with help."""

import os
import re
import shutil
import signal
import subprocess
import unittest

TARA = 'tara/cli/tara'
COMMANDS = ('play train arena crossplay rate selfplay games show solve levels '
            'variants verify perft stats web bench export model').split()
POSITION = 'four_treasures 5/7/7/7/7/7/5 0 battle - 0,0 0 - -'

# A wrong command line, in words or a list, and a part of what is said about it.
WRONG = [
    ('nonsense', "unknown command 'nonsense'; expected one of"),
    ('perfd', "did you mean 'perft'?"),
    ('nonsense --help', "unknown command 'nonsense'; expected one of"),
    ('--help nonsense', "unknown command 'nonsense'"),
    ('nonsense --version', "unknown command 'nonsense'"),
    ('perfd --help', "did you mean 'perft'?"),
    ('nonsense perft --help', "unknown command 'nonsense'"),
    ('games lisst --help', "did you mean 'list'?"),
    ('bench infrence -h', "did you mean 'inference'?"),
    ('help plai', "did you mean 'play'?"),
    ('--nonsense', "unknown option '--nonsense'"),
    ('perft', '--variant is required'),
    ('perft --variant chess --depth 1',
     "unknown variant 'chess'; expected one of: sacred_hill_l1"),
    ('perft --variant four_treasures', '--depth is required'),
    ('perft --variant four_treasures --depth', '--depth: a value is missing'),
    ('perft --variant four_treasures --depth -1',
     "--depth: bad value '-1'; expected a whole number from 0"),
    ('perft --variant four_treasures --depth two',
     "--depth: bad value 'two'; expected a whole number"),
    ('perft --variant four_treasures --depth 1 --depth 2',
     '--depth: given more than once'),
    ('perft --variant four_treasures --depth 1 --dividee',
     "unknown option '--dividee'; did you mean '--divide'?"),
    ('perft --variant four_treasures --depth 1 rest',
     "unexpected argument 'rest'"),
    ('perft --variant four_treasures --depth 0 --divide',
     '--divide requires --depth of at least 1'),
    ('show --variant four_treasures --option x=1',
     "variant four_treasures has no rule option 'x'"),
    ('show --variant sacred_hill_l1 --option proximity_bound=6',
     "proximity_bound: bad value '6'; expected 1 to 5"),
    ('show --variant sacred_hill_l1 --option proximity_bound',
     "--option: 'proximity_bound'; expected NAME=VALUE"),
    ('variants --format=xml',
     "--format: bad value 'xml'; expected text or json"),
    ('verify', 'FILE is required'),
    (['arena', '--variant', 'four_treasures', 'random', 'greedy', '--store',
      ''], "--store: bad value ''; expected FILE"),
    (['web', '--export', ''], "--export: bad value ''; expected FOLDER"),
    ('show', '--variant is required'),
    (['show', '--variant', 'high_kings_l1', '--position', POSITION],
     '--position is of four_treasures'),
    ('solve', '--variant is required (or --position)'),
    (['solve', '--position', POSITION, '--option', 'no_progress_limit=3'],
     '--option and --position exclude each other'),
    ('solve --variant four_treasures --node-limit 0',
     "--node-limit: bad value '0'; expected a whole number"),
    ('solve --variant four_treasures --table-mb x',
     "--table-mb: bad value 'x'; expected a whole number"),
    ('games', 'expected one of: list, show, export, stats'),
    ('games lisst', "did you mean 'list'?"),
    ('games list x.db --variant chess', "unknown variant 'chess'"),
    ('games show x.db first', "INDEX: bad value 'first'"),
    ('arena --variant four_treasures greedy',
     'B is required: tara arena --variant V A B (see'),
    ('arena --variant four_treasures greedy nobody',
     "unknown player 'nobody'"),
    ('arena --variant chess greedy random', "unknown variant 'chess'"),
    ('play --variant four_treasures --opponent mcts:sims=none', 'sims'),
    ('play --variant four_treasures --seat green',
     "--seat: bad value 'green'; expected red or blue or both"),
    ('engine --precision int4',
     "--precision: bad value 'int4'; expected auto, float32"),
    ('selfplay --variant four_treasures', '--output is required'),
    ('export', 'RUN is required'),
    ('export runs/none', '--output is required'),
    ('export x -o y --weights int4',
     "--weights: bad value 'int4'; expected float32 or float16"),
    ('model', 'FILE is required, or the command verify'),
    ('model x.tara y.tara', "unexpected argument 'y.tara'"),
    ('model verify', 'FILE is required'),
]


def run(words, program=TARA, **options):
    """Runs `tara`, or another program, with words."""
    if isinstance(words, str):
        words = words.split()
    return subprocess.run([program, *words],
                          stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE,
                          text=True,
                          check=False,
                          **{'stdout': subprocess.PIPE, **options})


class UsageTest(unittest.TestCase):

    def output_of(self, words, program=TARA):
        result = run(words, program)
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        return result.stdout

    def test_wrong_usage_ends_with_status_2_and_names_the_help(self):
        for words, message in WRONG:
            with self.subTest(words):
                result = run(words)
                self.assertEqual((result.returncode, result.stdout), (2, ''))
                self.assertRegex(result.stderr,
                                 r'^tara: .* \(see tara.* --help\)\n$')
                self.assertIn(message, result.stderr)

    def test_help_without_arguments_lists_the_commands(self):
        result = self.output_of('')
        for command in COMMANDS:
            self.assertIn(f'\n  {command} ', result)
        self.assertIn('Examples:\n', result)
        for words in ('--help', 'help'):
            self.assertEqual(self.output_of(words), result)
        self.assertEqual(self.output_of('--help', TARA + '_torch'), result)

    def test_an_unknown_command_is_an_error_in_the_program_with_libtorch(self):
        result = run('arenna --help', TARA + '_torch')
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertEqual(result.stderr, run('arenna --help').stderr)

    def test_only_the_program_for_learning_is_linked_with_libtorch(self):
        self.assertIn('libtorch', self.output_of([TARA + '_torch'], 'ldd'))
        libraries = self.output_of([TARA], 'ldd')
        self.assertIn('libc.so', libraries)
        self.assertNotRegex(libraries, 'torch|libc10')

    def test_without_its_program_libtorch_is_named_as_missing(self):
        """The program alone, as where Tara is installed without LibTorch."""
        alone = shutil.copy(TARA, os.path.join(os.environ['TEST_TMPDIR'],
                                               'alone'))
        arena = 'arena --variant sacred_hill_l1'
        for words in ('train nosuch.textproto', 'export nosuch -o nosuch.tara',
                      'engine --device cuda', 'bench inference',
                      f'{arena} net:nosuch,backend=torch random'):
            result = run(words, alone)
            self.assertEqual(result.returncode, 1, words)
            self.assertRegex(
                result.stderr, '^tara: cannot start .*alone_torch, the program '
                'with LibTorch, .*\n$')
        self.assertEqual(
            run(f'{arena} random random --games 2', alone).returncode, 0)

    def test_help_may_be_asked_for_before_the_command(self):
        # Of the program itself, and of the one with LibTorch.
        for command in ('perft', 'play', 'train'):
            for words in (f'--help {command}', f'help {command}'):
                self.assertEqual(self.output_of(words),
                                 self.output_of(f'{command} --help'))

    def test_every_command_explains_itself(self):
        for command in COMMANDS:
            result = self.output_of(f'{command} --help')
            self.assertIn(f'Usage: tara {command} ', result)
            self.assertIn('Examples:\n  tara ', result)
            self.assertNotIn('--fleet', result)  # of `tara fleet` alone
            for line in result.split('\n'):
                self.assertLessEqual(len(line), 80, f'{command}: {line}')
        self.assertIn('(default: 200)', self.output_of('arena --help'))

    def test_tells_the_version(self):
        self.assertRegex(self.output_of('--version'), r'^tara [0-9.]+\n$')

    def test_columns_of_levels_do_not_touch(self):
        self.assertIsNone(re.search('[+]-[0-9]+ [0-9]',
                                    self.output_of('levels')))

    def test_a_reader_that_has_seen_enough_ends_the_program_quietly(self):
        # The signal is ignored at first, as by some parent processes.
        read_end, write_end = os.pipe()
        os.close(read_end)
        result = run('variants', stdout=write_end,
                     preexec_fn=lambda: signal.signal(signal.SIGPIPE,
                                                      signal.SIG_IGN))
        os.close(write_end)
        self.assertEqual((result.returncode, result.stderr),
                         (-signal.SIGPIPE, ''))

    def test_a_full_disk_is_an_error(self):
        with open('/dev/full', 'w', encoding='utf-8') as full:
            result = run('variants', stdout=full)
        self.assertEqual((result.returncode, result.stderr),
                         (1, 'tara: cannot write the output\n'))
