"""MaskablePPO of Stable-Baselines3 learns to beat an opponent.

    python examples/python/maskable_ppo.py [--variant four_treasures]

The environment has action_masks(), so MaskablePPO needs no wrapper. Needs
sb3-contrib and Gymnasium.
"""

import argparse
import os

# PyTorch, OpenBLAS and NumPy read it when they are loaded. The batches are small;
# further threads would spin while they wait, and stall on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium
import tara.gym
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy


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
    name = "".join(map(str.capitalize, arguments.variant.split("_")))
    env = gymnasium.make(f"tara/{name}-v0", opponent=arguments.opponent)
    model = MaskablePPO("MlpPolicy", env, n_steps=2048, batch_size=256,
                        n_epochs=4, learning_rate=1e-3, gamma=1.0, seed=1,
                        device="cpu", verbose=1)
    model.learn(arguments.steps)
    results, _ = evaluate_policy(
        model, env, arguments.games, return_episode_rewards=True)
    print(f"score of {arguments.games} games: "
          f"{sum((1 + result) / 2 for result in results) / len(results):.3f}")


if __name__ == "__main__":
    main()
