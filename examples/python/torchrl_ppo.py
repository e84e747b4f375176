"""PPO of TorchRL learns to beat an opponent.

    python examples/python/torchrl_ppo.py [--variant four_treasures]

TorchRL's MaskedCategorical reads the mask from dict observations, and a wrapper
of a few lines makes such observations. Needs torchrl and Gymnasium.
"""

import argparse
import os

# PyTorch, OpenBLAS and NumPy read it when they are loaded. The batches are small;
# further threads would spin while they wait, and stall on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium
import numpy as np
import tara.gym
import torch
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import SyncDataCollector
from torchrl.envs import GymWrapper
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import (MaskedCategorical, ProbabilisticActor,
                             ValueOperator)
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

INPUTS = int(np.prod(tara.gym.OBSERVATION_SHAPE))


class WithMask(gymnasium.ObservationWrapper):
    """Observations with the mask of legal actions."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Dict({
            "observation": gymnasium.spaces.Box(
                -tara.gym.BOUND, tara.gym.BOUND, (INPUTS,), np.float32),
            "action_mask": gymnasium.spaces.Box(
                0, 1, (tara.NUM_ACTIONS,), np.bool_)})

    def observation(self, observation):
        return {"observation": observation.ravel(),
                "action_mask": self.env.unwrapped.action_masks()}


def network(outputs):
    return nn.Sequential(nn.Linear(INPUTS, 128), nn.ReLU(),
                         nn.Linear(128, 128), nn.ReLU(),
                         nn.Linear(128, outputs))


def train(env, actor, critic, steps, epochs=4, minibatch=256):
    """Trains both networks on this number of actions."""
    advantages = GAE(gamma=1.0, lmbda=0.95, value_network=None)
    losses = ClipPPOLoss(actor, critic, clip_epsilon=0.2, entropy_coef=0.01,
                         critic_coef=0.5, loss_critic_type="l2")
    optimizer = torch.optim.Adam(losses.parameters(), lr=1e-3, eps=1e-5)
    batches = SyncDataCollector(env, actor, frames_per_batch=1024,
                                total_frames=steps)
    for number, batch in enumerate(batches):
        with torch.no_grad():
            critic(batch)
            critic(batch["next"])
            advantages(batch)
        for _ in range(epochs):
            for part in torch.randperm(len(batch)).split(minibatch):
                each = losses(batch[part])
                loss = sum(value for name, value in each.items()
                           if name.startswith("loss_"))
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(losses.parameters(), 0.5)
                optimizer.step()
        results = batch["next", "reward"][batch["next", "done"]]
        print(f"{(number + 1) * len(batch)} of {steps} actions: mean result "
              f"{results.mean():+.2f}", flush=True)
    batches.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="four_treasures",
                        choices=tara.VARIANTS)
    parser.add_argument("--opponent", default="random",
                        help="as in tara.gym (default: random)")
    parser.add_argument("--steps", type=int, default=16384,
                        help="number of actions to learn from (default: 16384)")
    parser.add_argument("--games", type=int, default=100,
                        help="to evaluate with (default: 100)")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    name = "".join(map(str.capitalize, arguments.variant.split("_")))
    env = GymWrapper(WithMask(gymnasium.make(
        f"tara/{name}-v0", opponent=arguments.opponent)),
        categorical_action_encoding=True)
    env.set_seed(1)
    actor = ProbabilisticActor(
        TensorDictModule(network(tara.NUM_ACTIONS), ["observation"],
                         ["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical, spec=env.action_spec,
        return_log_prob=True)
    critic = ValueOperator(network(1), in_keys=["observation"])
    train(env, actor, critic, arguments.steps)
    with torch.no_grad(), set_exploration_type(ExplorationType.MODE):
        result = np.mean([
            env.rollout(1000, actor)["next", "reward"].sum().item()
            for _ in range(arguments.games)])
    print(f"score of {arguments.games} games: {(1 + result) / 2:.3f}")


if __name__ == "__main__":
    main()
