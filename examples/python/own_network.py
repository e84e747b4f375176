"""Your own network, in PyTorch, that learns a game by self-play.

    python examples/python/own_network.py [--variant sacred_hill_l1]

tara.selfplay plays games with the network, tara.Sampler prepares samples in a
thread, and tara.arena plays a match: everything that AlphaZero needs except the
network. It beats `greedy` after a minute or two on two cores. Needs PyTorch;
uses a GPU if there is one.
"""

import argparse
import os
import pathlib
import tempfile
import time

# PyTorch, OpenBLAS and NumPy read it when they are loaded. The batches are small;
# further threads would spin while they wait, and stall on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import tara
import torch
from torch import nn
from torch.nn import functional


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Network(nn.Module):
    """Convolutions over the 7 x 7 squares, a head for actions, one for results."""

    def __init__(self, channels=32, blocks=3):
        super().__init__()
        self.planes = nn.Conv2d(tara.NUM_PLANES, channels, 3, padding=1)
        self.globals = nn.Linear(tara.NUM_GLOBALS, channels)
        self.blocks = nn.ModuleList(
            nn.Conv2d(channels, channels, 3, padding=1) for _ in range(blocks))
        self.policy = nn.Linear(channels * 49, tara.NUM_ACTIONS)
        self.result = nn.Linear(channels, 3)

    def forward(self, planes, globals_):
        """[n, 24, 7, 7], [n, NUM_GLOBALS] -> [n, NUM_ACTIONS], [n, 3]."""
        x = self.planes(planes) + self.globals(globals_)[:, :, None, None]
        for block in self.blocks:
            x = x + block(functional.relu(x))
        x = functional.relu(x)
        return self.policy(x.flatten(1)), self.result(x.mean((2, 3)))


def evaluator_of(network):
    """Returns an evaluator for tara.search, which passes arrays by DLPack."""
    def own_network(planes, globals_, mask):
        with torch.no_grad():
            return network(torch.from_dlpack(planes).to(DEVICE),
                           torch.from_dlpack(globals_).to(DEVICE))
    return own_network


def tensors(batch):
    """Returns a batch as tensors, pinned for a GPU."""
    named = {name: torch.from_dlpack(array)
             for name, array in batch._asdict().items() if name != "states"}
    if DEVICE == "cuda":
        named = {name: each.pin_memory() for name, each in named.items()}
    return named


def losses(network, batch):
    """Returns the cross-entropies of policy and result, means over samples."""
    tensor = {name: each.to(DEVICE, non_blocking=True)
              for name, each in batch.items()}
    logits, result = network(tensor["planes"], tensor["globals"])
    logits = logits.masked_fill(tensor["mask"] == 0, -1e9)
    of_policy = -(functional.log_softmax(logits, 1) * tensor["policy"]).sum(1)
    of_result = -(functional.log_softmax(result, 1) * tensor["result"]).sum(1)
    return of_policy.mean(), of_result.mean()


class Player:
    """The network with a search, as a player of tara.arena."""

    name = "own network"

    def __init__(self, network, simulations=40):
        self.evaluator = evaluator_of(network)
        self.options = f"sims={simulations}"

    def choose(self, states):
        return [analysis.action for analysis in tara.search(
            states, self.evaluator, options=self.options)]


def train(variant, generations, games_at_a_time=80, steps=60, seed=1):
    """Returns a network trained on this number of generations of games."""
    torch.manual_seed(seed)
    network = Network().to(DEVICE)
    optimizer = torch.optim.AdamW(network.parameters(), lr=2e-3)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, tara.GameStore(
            pathlib.Path(folder) / "games.db", "w") as store:
        sampler = None
        for generation in range(generations):
            first = generation * games_at_a_time
            store.add(tara.selfplay(
                evaluator_of(network), variant,
                range(first, first + games_at_a_time), seed=seed,
                options="sims=24", in_step=games_at_a_time))
            if sampler is None:
                sampler = tara.Sampler(
                    store, "window_games=800,held_out_share=0", seed=seed)
            sampler.update()
            step = generation * steps
            shown = np.zeros(2)
            for batch in sampler.batches(range(step, step + steps), 128,
                                         to=tensors):
                policy, result = losses(network, batch)
                optimizer.zero_grad()
                (policy + result).backward()
                optimizer.step()
                shown += policy.item(), result.item()
            print(f"{time.monotonic() - begin:4.0f} s, {len(store)} games: losses "
                  f"{shown[0] / steps:.3f} policy, {shown[1] / steps:.3f} "
                  "result", flush=True)
    return network


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="sacred_hill_l1",
                        choices=tara.VARIANTS)
    parser.add_argument("--generations", type=int, default=6,
                        help="of 80 games each (default: 6)")
    parser.add_argument("--games", type=int, default=40,
                        help="of the match against greedy (default: 40)")
    arguments = parser.parse_args()
    network = train(arguments.variant, arguments.generations)
    print(tara.arena(Player(network), "greedy", arguments.variant,
                     games=arguments.games))


if __name__ == "__main__":
    main()
