"""Interrupts and violent ends of commands, and of the programs that they
start."""

import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time
import unittest

# A player that thinks for days.
THINKER = 'mcts:sims=16000000'
HANGS = ('engine:tests/eval/fake_engine --fault hang,start=3000,move=3000')
THINKS = ('engine:tara/cli/tara engine --model playouts --search '
          'sims=16000000,start=3000,move=3000')


def field(process, name):
    """Returns a field of a process's status; '' of none that there is."""
    try:
        text = pathlib.Path(f'/proc/{process}/status').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ''
    return dict(line.split(':\t', 1) for line in text.splitlines()
                if ':\t' in line).get(name, '')


def ticks(process):
    """Returns the processor time of a process, in ticks of 1/100 s."""
    try:
        text = pathlib.Path(f'/proc/{process}/stat').read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    # The name, in parentheses, may have spaces.
    fields = text.rpartition(')')[2].split()
    return int(fields[11]) + int(fields[12])


def children(process):
    """Returns the children of a process, whichever of its threads made them."""
    return [int(entry) for entry in os.listdir('/proc')
            if entry.isdigit() and field(entry, 'PPid') == str(process)]


class EndingsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get('TEST_TMPDIR'))

    def start(self, command, *more):
        """Starts `tara` with the words of a command, and more arguments."""
        tara = subprocess.Popen(['tara/cli/tara', *command.split(), *more],
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE,
                                text=True)
        self.addCleanup(tara.stderr.close)
        self.addCleanup(tara.wait)
        self.addCleanup(tara.kill)
        return tara

    def wait_until(self, tara, condition):
        """Waits for a condition, or the end, which should not come."""
        while not condition() and field(tara.pid, 'State')[:1] not in ('Z', ''):
            time.sleep(0.01)

    def await_handler(self, tara):
        """Waits until it handles interrupts."""
        self.wait_until(
            tara, lambda: int(field(tara.pid, 'SigCgt') or '0', 16) >>
            (signal.SIGINT - 1) & 1)

    def test_an_interrupt_ends_what_would_take_days(self):
        game = pathlib.Path(self.folder, 'game.txt')
        game.write_text('four_treasures D4 D5 C4 C5\n')
        arena = 'arena --variant four_treasures'
        depth = 'alphabeta:depth=100'
        for command in (
                f'{arena} {THINKER} {THINKER}',
                f'{arena} --threads 3 {THINKER} {THINKER}',
                f'{arena} random --time-control 100h {THINKER}',
                f'rate --variant four_treasures random {THINKER}',
                f'crossplay --variant sacred_hill_doubles_l1 random {THINKER}',
                f'balance --variant four_treasures --player {THINKER}',
                f'selfplay --variant four_treasures --player {depth} -o '
                f'{self.folder}/games.db',
                'solve --variant high_kings_l1',
                'stats --variant high_kings_l1 --games 100G',
                f'explore build {self.folder}/book.db --variant four_treasures '
                f'--player {THINKER}', f'review {game} --player {THINKER}'):
            with self.subTest(command):
                tara = self.start(command)
                self.await_handler(tara)
                self.wait_until(tara, lambda: ticks(tara.pid) >= 20)
                tara.send_signal(signal.SIGINT)
                self.assertIn('interrupted', tara.communicate()[1])
                self.assertEqual(tara.returncode, 130)

    def test_an_interrupt_ends_what_has_nothing_to_keep(self):
        tara = self.start('perft --variant high_kings_l1 --depth 12')
        self.wait_until(tara, lambda: ticks(tara.pid) >= 5)
        tara.send_signal(signal.SIGINT)
        self.assertEqual(tara.wait(), -signal.SIGINT)

    def test_an_interrupt_ends_engines_that_think(self):
        tara = self.start('arena --variant four_treasures --threads 2', HANGS,
                          HANGS)
        self.await_handler(tara)
        tara.send_signal(signal.SIGTERM)
        self.assertEqual(tara.wait(), 130)

    def test_engines_end_with_their_match_however_it_ends(self):
        for engine, least in ((THINKS, 20), (HANGS, 0)):
            for number in (signal.SIGKILL, signal.SIGHUP, signal.SIGINT):
                with self.subTest(engine=engine, signal=number):
                    tara = self.start(
                        'arena --variant four_treasures random --games 8 '
                        '--threads 2', engine)
                    self.await_handler(tara)
                    self.wait_until(
                        tara, lambda: len(children(tara.pid)) >= 2 and all(
                            ticks(child) >= least
                            for child in children(tara.pid)))
                    engines = list(map(os.pidfd_open, children(tara.pid)))
                    self.assertGreaterEqual(len(engines), 2)
                    tara.send_signal(number)
                    if number == signal.SIGINT:
                        tara.send_signal(number)  # twice: at once
                    self.assertIn(tara.wait(), (-number, 130))
                    for file in engines:
                        self.assertTrue(select.select([file], [], [], 120)[0])
                        os.close(file)
