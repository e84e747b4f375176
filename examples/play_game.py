#!/usr/bin/env python3
"""Lets two engines play a game over the line protocol.

The protocol: docs/reference/protocol.md.

  examples/play_game.py --variant high_kings_l1
  examples/play_game.py --red 'bin/tara engine --model runs/kings' \
      --blue 'bin/tara engine --search sims=100'

Each engine receives all actions of the other one. Prints the game and its
result. Needs only the standard library.
"""

import argparse
import shlex
import subprocess
import sys


class EngineError(Exception):
    """The engine has refused a command, or has ended."""


class Engine:
    """An engine at the other end of two pipes."""

    def __init__(self, command):
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, encoding='utf-8')
        self._id = 0

    def ask(self, command):
        """Sends a command and returns its answer; raises EngineError."""
        self._id += 1
        try:
            print(self._id, command, file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise EngineError(f'{command}: the engine has ended') from None
        lines = []
        while True:
            line = self._process.stdout.readline()
            if not line:
                raise EngineError(f'{command}: the engine has ended')
            line = line.rstrip('\n')
            if not line:  # a blank line ends an answer
                break
            lines.append(line)
        first, _, rest = lines[0].partition(' ')
        text = '\n'.join([rest] + lines[1:])
        if first != f'={self._id}':
            raise EngineError(f'{command}: {text}')
        return text

    def close(self):
        """Tells the engine to quit and waits for its end."""
        try:
            self.ask('quit')
        except EngineError:
            pass
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def play(red, blue, variant, show):
    """Plays a game and returns its score, such as 'Red+3'."""
    engines = [red, blue]
    for engine in engines:
        engine.ask(f'variant {variant}')
    while True:
        # Never count whose turn it is: a turn may be two actions, and seats
        # may be skipped.
        seat = red.ask('to_move')
        if seat == 'none':
            return red.ask('final_score')
        number, name = seat.split(' ', 1)
        side = int(number) % 2  # in doubles, two seats a side
        action = engines[side].ask('genmove')
        engines[1 - side].ask(f'play {action}')
        show(f'{name}: {action}')


def main():
    parser = argparse.ArgumentParser(
        description='Lets two engines play a game.')
    parser.add_argument('--variant', default='sacred_hill_l1',
                        help="as `tara variants` lists them")
    parser.add_argument('--red', default='bin/tara engine',
                        help="command of Red's engine")
    parser.add_argument('--blue', default='bin/tara engine --search sims=100',
                        help="command of Blue's engine")
    options = parser.parse_args()
    engines = [Engine(options.red), Engine(options.blue)]
    try:
        score = play(*engines, options.variant, print)
        print(engines[0].ask('result'))
        print(score)
    except EngineError as error:
        print(f'play_game: {error}', file=sys.stderr)
        return 1
    finally:
        for engine in engines:
            engine.close()
    return 0


if __name__ == '__main__':
    sys.exit(main())
