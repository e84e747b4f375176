"""Gymnasium's own checker, for all variants, without warnings; opponents."""

import gymnasium
import numpy as np
import pytest
import tara
import tara.gym
from gymnasium.utils.env_checker import check_env

NAMES = {variant: "".join(word.capitalize() for word in variant.split("_"))
         for variant in tara.VARIANTS}


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_the_environment_is_one_of_gymnasium(variant):
    class Legal(tara.gym.TaraEnv):
        """The checker draws any action: here each stands for a legal one."""

        def step(self, action):
            legal = np.flatnonzero(self._mask)
            return super().step(legal[action % len(legal)])

    check_env(Legal(variant, render_mode="ansi"), skip_render_check=True)


def play(env, seed):
    observation, info = env.reset(seed=seed)
    total, turns = 0.0, 0
    while True:
        assert env.observation_space.contains(observation)
        action = int(np.flatnonzero(info["action_mask"])[0])
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        turns += 1
        assert not truncated
        if terminated:
            return total, turns, env.render()


@pytest.mark.parametrize("opponent", ["random", "mcts:sims=5", "best:sims=2"])
def test_games_against_opponents_are_the_same_again(opponent):
    env = gymnasium.make("tara/FourTreasures-v0", opponent=opponent,
                         render_mode="ansi")
    for seed in (1, 2):
        first = play(env, seed)
        assert play(env, seed) == first
        state = tara.State.parse(first[2])
        assert state.finished
        assert abs(first[0]) == (state.outcome.winner is not None)


@pytest.mark.parametrize("variant", ["sacred_hill_doubles_l1",
                                     "stone_of_destiny"])
@pytest.mark.parametrize("side", [0, 1])
def test_the_reward_is_of_ones_side(variant, side):
    env = gymnasium.make(f"tara/{NAMES[variant]}-v0", side=side,
                         render_mode="ansi")
    reward, _, text = play(env, 5)
    winner = tara.State.parse(text).outcome.winner
    assert reward == (0 if winner is None else 1 if winner == side else -1)


@pytest.mark.parametrize("arguments, words", [
    ({"opponent": "chess"}, "'chess'; expected 'random'"),
    ({"opponent": "net:"}, "net:"),
    ({"opponent": "mcts:depth=3"}, "depth"),
    ({"side": 2}, "side: 2"),
    ({"options": "pie_rule=maybe"}, "pie_rule"),
    ({"render_mode": "human"}, "human"),
])
def test_wrong_arguments_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        tara.gym.TaraEnv("four_treasures", **arguments)


def test_an_illegal_action_changes_nothing():
    env = gymnasium.make("tara/FourTreasures-v0").unwrapped
    env.reset(seed=1)
    before = env._games.states.tobytes()
    with pytest.raises(ValueError, match="illegal action"):
        env.step(569)
    assert env._games.states.tobytes() == before
