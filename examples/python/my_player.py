"""A player written in Python, in a match with `greedy`.

    python examples/python/my_player.py [--variant four_treasures]

It looks one action ahead: it plays to the position that is best for its side
according to the ready-made network. One batch evaluates the positions of all
games.
"""

import argparse

import numpy as np
import tara


class OneActionAhead:
    """Any object with choose(states) is a player; tables show its `name`."""

    name = "one action ahead"

    def __init__(self):
        self.network = tara.load()

    def choose(self, states):
        after = [[state.play(int(action)) for action in state.legal()]
                 for state in states]
        unfinished = [each for row in after for each in row if not each.finished]
        values = iter(())
        if unfinished:
            result = self.network.evaluate(unfinished).result
            values = iter(result[:, 0] - result[:, 2])  # of the seat to move

        def value(state, each):
            if each.finished:
                winner = each.outcome.winner
                return 0 if winner is None else 1 - 2 * (winner != state.side)
            ours = next(values)
            return ours if each.side == state.side else -ours

        return [state.legal()[np.argmax([value(state, each) for each in row])]
                for state, row in zip(states, after)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="four_treasures",
                        choices=tara.VARIANTS)
    parser.add_argument("--games", type=int, default=100)
    arguments = parser.parse_args()
    print(tara.arena(OneActionAhead(), "greedy", arguments.variant,
                     games=arguments.games))


if __name__ == "__main__":
    main()
