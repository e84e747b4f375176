"""A Gumbel MuZero search by mctx, with Tara's rules, in a match with `greedy`.

    pip install mctx
    python examples/python/gumbel_search.py [--variant four_treasures]

mctx searches in JAX, on any device. It needs a model of the game: a function
that plays an action in each position of a batch and evaluates the results. Here
tara.play has the rules, and the ready-made network evaluates; you can use your
own network instead. A node of mctx's tree keeps its position as bytes.
"""

import argparse
import typing

import jax
import jax.numpy as jnp
import mctx
import numpy as np
import tara

# Callbacks that wait for arrays of the same device could wait for ever.
jax.config.update("jax_cpu_enable_async_dispatch", False)


class Step(typing.NamedTuple):
    """What the model answers, with one entry per position."""

    state: np.ndarray     # uint8 [n, 64]: the position after the action
    reward: np.ndarray    # of the side that has moved
    discount: np.ndarray  # -1: its opponent is next; 1: itself; 0: the end
    logits: np.ndarray    # [n, NUM_ACTIONS], of the side that is next
    value: np.ndarray     # likewise, -1 to 1


def evaluate(network, states):
    """Returns logits and values of positions, with zeros at the ends."""
    logits = np.zeros((len(states), tara.NUM_ACTIONS), np.float32)
    value = np.zeros(len(states), np.float32)
    going = ~tara.finished(states)
    if going.any():
        policy, result, _ = network.evaluate(states[going])
        with np.errstate(divide="ignore"):  # illegal actions
            logits[going] = np.maximum(np.log(policy), -1e9)
        value[going] = result[:, 0] - result[:, 2]
    return logits, value


def as_bytes(states):
    return states.view(np.uint8).reshape(len(states), 64)


def as_states(rows):
    return np.ascontiguousarray(rows).view(tara.STATE).reshape(len(rows))


def play(network, rows, actions):
    """Returns the Step of an action in each position."""
    before = as_states(np.asarray(rows))
    over = tara.finished(before)
    after = tara.play(before, np.asarray(actions), where=~over)
    ends = tara.finished(after)
    side = before["seat"] % 2
    reward = tara.outcome(after).reward[np.arange(len(after)), side]
    reward[over] = 0
    same_side = after["seat"] % 2 == side
    discount = np.where(ends, 0, np.where(same_side, 1, -1))
    return Step(as_bytes(after), reward, discount.astype(np.float32),
                *evaluate(network, after))


def make_search(network, simulations):
    """Returns a compiled function: key, logits, values, positions -> output."""

    def recurrent(_, key, actions, rows):
        n = len(actions)

        def of(dtype, *shape):
            return jax.ShapeDtypeStruct((n, *shape), dtype)

        step = jax.pure_callback(
            lambda *given: play(network, *given),
            Step(of(jnp.uint8, 64), of(jnp.float32), of(jnp.float32),
                 of(jnp.float32, tara.NUM_ACTIONS), of(jnp.float32)),
            rows, actions)
        return mctx.RecurrentFnOutput(
            reward=step.reward, discount=step.discount,
            prior_logits=step.logits, value=step.value), step.state

    @jax.jit
    def search(key, logits, value, rows):
        root = mctx.RootFnOutput(prior_logits=logits, value=value,
                                 embedding=rows)
        return mctx.gumbel_muzero_policy(
            (), key, root, recurrent, num_simulations=simulations,
            invalid_actions=logits <= -1e9, max_num_considered_actions=8,
            gumbel_scale=0.0)  # 1 in self-play

    return search


class Gumbel:
    """A player: searches all positions together."""

    def __init__(self, network, simulations, batch):
        self.name = f"mctx, {simulations} simulations"
        self.network = network
        self.batch = batch  # JAX compiles once for each size
        self.search = make_search(network, simulations)
        self.key = jax.random.PRNGKey(0)

    def choose(self, states):
        actions = []
        for first in range(0, len(states), self.batch):
            part = states[first:first + self.batch]
            padded = part + part[:1] * (self.batch - len(part))
            array = np.frombuffer(b"".join(map(bytes, padded)), tara.STATE)
            self.key, key = jax.random.split(self.key)
            found = self.search(key, *evaluate(self.network, array),
                                as_bytes(array))
            # found.action_weights [batch, NUM_ACTIONS] is a policy target.
            actions += np.asarray(found.action)[:len(part)].tolist()
        return actions


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="four_treasures",
                        choices=tara.VARIANTS)
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--sims", type=int, default=16,
                        help="simulations of an action (default: 16)")
    parser.add_argument("--opponent", default="greedy",
                        help="a player spec of `tara arena` (default: greedy)")
    arguments = parser.parse_args()
    player = Gumbel(tara.load(), arguments.sims, min(arguments.games, 64))
    print(tara.arena(player, arguments.opponent, arguments.variant,
                     games=arguments.games))


if __name__ == "__main__":
    main()
