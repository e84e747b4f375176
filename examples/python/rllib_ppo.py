"""PPO of RLlib learns to beat an opponent.

    python examples/python/rllib_ppo.py [--variant four_treasures]

RLlib has a module that reads masks from dict observations, and a wrapper of a
few lines makes such observations. Needs ray[rllib], PyTorch and Gymnasium.
"""

import argparse
import os

# PyTorch, OpenBLAS and NumPy read it when they are loaded. The batches are small;
# further threads would spin while they wait, and stall on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gymnasium
import numpy as np
import ray
import tara.gym
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import (
    ActionMaskingTorchRLModule)


class WithMask(gymnasium.ObservationWrapper):
    """Observations as RLlib's module expects them."""

    def __init__(self, config):
        super().__init__(tara.gym.TaraEnv(**config))
        shape = int(np.prod(tara.gym.OBSERVATION_SHAPE))
        self.observation_space = gymnasium.spaces.Dict({
            "observations": gymnasium.spaces.Box(
                -tara.gym.BOUND, tara.gym.BOUND, (shape,), np.float32),
            "action_mask": gymnasium.spaces.Box(
                0, 1, (tara.NUM_ACTIONS,), np.float32)})

    def observation(self, observation):
        return {"observations": observation.ravel(),
                "action_mask": self.env.action_masks().astype(np.float32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--variant", default="four_treasures",
                        choices=tara.VARIANTS)
    parser.add_argument("--opponent", default="random",
                        help="as in tara.gym (default: random)")
    parser.add_argument("--iterations", type=int, default=8,
                        help="of 4096 actions each (default: 8)")
    parser.add_argument("--games", type=int, default=100,
                        help="to evaluate with (default: 100)")
    arguments = parser.parse_args()
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    config = (
        PPOConfig()
        .environment(WithMask, env_config={
            "variant": arguments.variant, "opponent": arguments.opponent})
        # Everything in this process; with more, RLlib plays in parallel.
        .env_runners(num_env_runners=0, num_envs_per_env_runner=16)
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(
            module_class=ActionMaskingTorchRLModule,
            model_config=DefaultModelConfig(fcnet_hiddens=[128, 128],
                                            fcnet_activation="relu")))
        .training(train_batch_size_per_learner=4096, minibatch_size=512,
                  num_epochs=4, lr=1e-3, gamma=1.0, lambda_=0.95,
                  use_kl_loss=False, clip_param=0.2, grad_clip=0.5,
                  entropy_coeff=0.01)
        .evaluation(evaluation_num_env_runners=0,
                    evaluation_duration=arguments.games)
        .debugging(seed=1, log_level="ERROR"))
    algorithm = config.build_algo()
    for iteration in range(arguments.iterations):
        mean = algorithm.train()["env_runners"]["episode_return_mean"]
        print(f"{iteration + 1} of {arguments.iterations} iterations: mean "
              f"result {mean:+.2f}", flush=True)
    result = algorithm.evaluate()["env_runners"]["episode_return_mean"]
    print(f"score of {arguments.games} games: {(1 + result) / 2:.3f}")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
