"""PPO in one file, as in CleanRL: a network learns to beat an opponent.

    python examples/python/ppo.py [--variant four_treasures]

All games are played in lockstep by a vector environment of Gymnasium. Illegal
actions get no probability, and the mask comes from `info`. Needs PyTorch and
Gymnasium.
"""

import argparse
import os
import time

# PyTorch, OpenBLAS and NumPy read it when they are loaded. The batches are small;
# further threads would spin while they wait, and stall on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium
import numpy as np
import tara.gym
import torch
from torch import nn
from torch.distributions import Categorical


class Agent(nn.Module):
    """Logits of actions and the value, from planes [n, channels, 7, 7]."""

    def __init__(self, hidden=128):
        super().__init__()
        inputs = int(np.prod(tara.gym.OBSERVATION_SHAPE))
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(inputs, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU())
        self.policy = nn.Linear(hidden, tara.NUM_ACTIONS)
        self.value = nn.Linear(hidden, 1)
        for parameter in self.policy.parameters():
            nn.init.zeros_(parameter)  # all legal actions alike

    def forward(self, observations, masks):
        x = self.body(observations)
        logits = self.policy(x).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits), self.value(x)[:, 0]


def tensor(array):
    # By DLPack, which needs no NumPy of PyTorch's own version.
    return torch.from_dlpack(np.ascontiguousarray(array))


def advantages_of(rewards, dones, values, next_values, gamma=1.0, lambda_=0.95):
    """Returns generalized advantage estimates, [steps, games]."""
    advantages = torch.zeros_like(rewards)
    last = torch.zeros_like(next_values)
    for step in reversed(range(len(rewards))):
        going_on = 1 - dones[step]
        error = rewards[step] + gamma * going_on * next_values - values[step]
        last = error + gamma * lambda_ * going_on * last
        advantages[step] = last
        next_values = values[step]
    return advantages


def improve(agent, optimizer, batch, epochs=3, minibatch=1024, clip=0.2):
    """Takes steps on the clipped objective, with batch in any order."""
    observations, masks, actions, log_probs, advantages, returns = batch
    for _ in range(epochs):
        for part in torch.randperm(len(actions)).split(minibatch):
            policy, values = agent(observations[part], masks[part])
            ratio = (policy.log_prob(actions[part]) - log_probs[part]).exp()
            gain = advantages[part]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            of_policy = -torch.min(
                gain * ratio, gain * ratio.clamp(1 - clip, 1 + clip)).mean()
            of_value = (values - returns[part]).pow(2).mean()
            loss = of_policy + 0.5 * of_value - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()


def train(envs, updates, steps=32, seed=1):
    """Returns an agent trained on updates * steps * envs.num_envs actions."""
    torch.manual_seed(seed)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=1e-3, eps=1e-5)
    observations, info = envs.reset(seed=seed)
    begin = time.monotonic()
    for update in range(updates):
        rollout, results = [], []
        for _ in range(steps):
            seen, mask = tensor(observations), tensor(info["action_mask"])
            with torch.no_grad():
                policy, values = agent(seen, mask)
                actions = policy.sample()
                log_probs = policy.log_prob(actions)
            observations, reward, done, _, info = envs.step(
                np.from_dlpack(actions))
            rollout.append((seen, mask, actions, log_probs, values,
                            tensor(reward.astype(np.float32)),
                            tensor(done.astype(np.float32))))
            results.extend(reward[done])
        seen, mask, actions, log_probs, values, rewards, dones = (
            torch.stack(each) for each in zip(*rollout))
        with torch.no_grad():
            _, next_values = agent(tensor(observations),
                                   tensor(info["action_mask"]))
        advantages = advantages_of(rewards, dones, values, next_values)
        improve(agent, optimizer, [each.flatten(0, 1) for each in (
            seen, mask, actions, log_probs, advantages, advantages + values)])
        if results:
            print(f"{time.monotonic() - begin:4.0f} s, {update + 1} of {updates} "
                  f"updates: mean result {np.mean(results):+.2f} of "
                  f"{len(results)} games", flush=True)
    return agent


class Player:
    """The agent without search, as a player of tara.arena."""

    name = "PPO"

    def __init__(self, agent):
        self.agent = agent

    def choose(self, states):
        mask = tara.legal_mask(states, seen=True)
        with torch.no_grad():
            policy, _ = self.agent(
                tensor(tara.encode(states).as_planes()), tensor(mask))
        return tara.from_seen(states, np.from_dlpack(policy.logits.argmax(1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="four_treasures",
                        choices=tara.VARIANTS)
    parser.add_argument("--opponent", default="random",
                        help="as in tara.gym (default: random)")
    parser.add_argument("--updates", type=int, default=20,
                        help="of 32 actions in each of 128 games (default: 20)")
    parser.add_argument("--games", type=int, default=200,
                        help="of the match afterwards (default: 200)")
    arguments = parser.parse_args()
    name = "".join(map(str.capitalize, arguments.variant.split("_")))
    envs = gymnasium.make_vec(f"tara/{name}-v0", num_envs=128,
                              opponent=arguments.opponent)
    agent = train(envs, arguments.updates)
    print(tara.arena(Player(agent), arguments.opponent, arguments.variant,
                     games=arguments.games))


if __name__ == "__main__":
    main()
