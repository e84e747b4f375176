#!/usr/bin/env python3
"""Analyses all positions of a game over the JSON protocol.

The protocol: docs/reference/protocol.md.

  examples/analyse_game.py --variant sacred_hill_l1 D4 E6 C2 F3
  bin/tara games export runs/kings | examples/analyse_game.py --game -

Prints the action played in each position, the engine's best action, and the
value of both. It requests all positions at once, and prints them as the answers
arrive. Needs only the standard library.
"""

import argparse
import json
import shlex
import subprocess
import sys


def read_game(path):
    """Returns variant, rule options and actions of a file's first game."""
    with (sys.stdin if path == '-' else open(path, encoding='utf-8')) as file:
        game = json.loads(file.readline())
    return (game['variant'], game.get('options', {}),
            [step['action'] for step in game['steps']])


def analyse(command, request):
    """Yields the answers to a request as they come."""
    process = subprocess.Popen(
        shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, encoding='utf-8')
    with process:
        print(json.dumps(request), file=process.stdin, flush=True)
        process.stdin.close()  # no more requests: it ends when all is answered
        for line in process.stdout:
            yield json.loads(line)


def describe(answer, played):
    """Returns a line about a position."""
    if answer['finished']:
        points = answer['result']['points']
        return f"{answer['turn']:4}  the end: {points[0]} to {points[1]} points"
    line = (f"{answer['turn']:4}  {answer['side']:5} "
            f"value {answer['value']:+.3f}  margin {answer['margin']:+5.1f}  "
            f"best {answer['best']:7}")
    if played is None:
        return line
    found = [action for action in answer['actions']
             if action['action'] == played]
    value = found[0].get('value') if found else None
    told = 'not searched' if value is None else f'value {value:+.3f}'
    return f'{line} played {played:7} {told}'


def main():
    parser = argparse.ArgumentParser(
        description='Analyses all positions of a game.')
    parser.add_argument('actions', nargs='*', help='such as D4 E6')
    parser.add_argument('--variant', default='sacred_hill_l1',
                        help='as `tara variants` lists them')
    parser.add_argument('--game', metavar='FILE',
                        help='a game as `tara games export` writes it; - is '
                             'the standard input')
    parser.add_argument('--engine', default='bin/tara engine --json',
                        help='command of the engine')
    parser.add_argument('--simulations', type=int, default=400,
                        help='of each position')
    options = parser.parse_args()
    variant, rules, actions = options.variant, {}, options.actions
    if options.game:
        variant, rules, actions = read_game(options.game)
    request = {
        'id': 'game',
        'variant': variant,
        'options': rules,
        'actions': actions,
        'turns': list(range(len(actions) + 1)),
        'simulations': options.simulations,
        'report': ['actions'],
    }
    for answer in analyse(options.engine, request):
        if 'error' in answer:
            print(f"analyse_game: {answer.get('field', 'engine')}: "
                  f"{answer['error']}", file=sys.stderr)
            return 1
        if 'warning' in answer:
            print(f"analyse_game: {answer['warning']}", file=sys.stderr)
            continue
        turn = answer['turn']
        played = actions[turn] if turn < len(actions) else None
        print(describe(answer, played), flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
