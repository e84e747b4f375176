"""PettingZoo's own checkers, for all variants, without warnings."""

import json
import os
import subprocess

import gymnasium
import numpy as np
import pytest
import tara
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper
from tara import pettingzoo


# Its own board games have dicts, too, and are exempt by name.
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably",
                            "ignore:Observation is not a NumPy array")
@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_the_environment_is_one_of_pettingzoo(variant):
    api_test(pettingzoo.env(variant), num_cycles=300)
    seed_test(lambda: pettingzoo.env(variant), num_cycles=50)


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_a_game_is_that_of_the_rules(variant):
    env = pettingzoo.env(variant, render_mode="ansi")
    env.reset()
    random = np.random.default_rng(3)
    rewards = {}
    for agent in env.agent_iter():
        observation, reward, done, _, info = env.last()
        assert env.observation_space(agent).contains(observation)
        np.testing.assert_array_equal(observation["action_mask"],
                                      info["action_mask"])
        observation = observation["observation"]
        np.testing.assert_array_equal(
            env.state(), env.observe("seat_0")["observation"])
        if done:
            rewards[agent] = reward
            env.step(None)
            continue
        state = tara.State.parse(env.render())
        assert agent == f"seat_{state.seat}"
        mask = info["action_mask"]
        assert mask.sum() == state.legal().size
        features = state.features()
        np.testing.assert_array_equal(observation[:tara.NUM_PLANES],
                                      features.planes)
        np.testing.assert_array_equal(observation[tara.NUM_PLANES:, 3, 3],
                                      features.globals)
        env.step(int(random.choice(np.flatnonzero(mask))))
    outcome = tara.State.parse(env.render()).outcome
    for seat in range(len(env.possible_agents)):
        want = (0 if outcome.winner is None
                else 1 if outcome.winner == seat % 2 else -1)
        assert rewards[f"seat_{seat}"] == want


@pytest.mark.parametrize("variant", ["high_kings_l1",
                                     "four_treasures_doubles"])
def test_masks_are_in_the_infos_of_all_from_reset_to_the_end(variant):
    env = pettingzoo.env(variant)
    env.reset()
    turns = 0
    for agent in env.agent_iter():
        masks = {each: env.infos[each]["action_mask"] for each in env.agents}
        over = env.terminations[agent]
        for each, mask in masks.items():
            assert mask.any() == (each == agent and not over)
        env.step(None if over else int(masks[agent].argmax()))
        turns += 1
    assert turns > 10
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(3)


@pytest.mark.parametrize("mask", ["observation", "info"])
def test_a_wrapper_that_looks_for_masks_finds_them(mask):
    env = TerminateIllegalWrapper(
        pettingzoo.raw_env("four_treasures", mask=mask), -1)
    for illegal in (False, True):
        env.reset()
        turns = 0
        for _ in env.agent_iter():
            _, _, done, _, info = env.last()
            mask = info["action_mask"]
            env.step(None if done else
                     int(mask.argmin() if illegal else mask.argmax()))
            turns += 1
        assert (turns > 20) != illegal


def test_nobody_is_given_what_others_have():
    env = pettingzoo.env("four_treasures")
    env.reset()
    while not any(env.terminations.values()):
        for each in env.agents:
            given = env.observe(each)
            before = {name: array.copy() for name, array in given.items()}
            for name, array in given.items():
                array[:] = 7
                np.testing.assert_array_equal(env.observe(each)[name],
                                              before[name])
        mask = env.infos[env.agent_selection]["action_mask"]
        action = int(mask.argmax())
        mask[:] = 0
        env.step(action)
    views = [env.observe(each)["observation"] for each in env.agents]
    own, enemy = 2, 3  # planes of ringforts
    np.testing.assert_array_equal(views[0][own].sum(), views[1][enemy].sum())
    assert not np.array_equal(views[0], views[1])
    with pytest.raises(KeyError, match="agent: 'zzz'; expected one of"):
        env.observe("zzz")


def test_actions_are_drawn_by_the_seed():
    drawn = []
    for seed in (1, 1, 2):
        env = pettingzoo.env("four_treasures")
        env.reset(seed=seed)
        drawn.append([env.action_space(agent).sample()
                      for agent in env.agents for _ in range(20)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0][:20] != drawn[0][20:]


def test_a_call_needs_a_game():
    env = pettingzoo.env("four_treasures", render_mode="ansi")
    for call in (lambda: env.step(0), lambda: env.observe("seat_0"),
                 env.render, env.state):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            call()


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="chess"):
        pettingzoo.env("chess")
    with pytest.raises(ValueError, match="render_mode: 'human'"):
        pettingzoo.env("four_treasures", render_mode="human")
    with pytest.raises(ValueError, match="mask: 'no'; expected 'observation'"):
        pettingzoo.env("four_treasures", mask="no")
    for make in (pettingzoo.env, pettingzoo.raw_env):
        env = make("four_treasures")
        env.reset()
        with pytest.raises(ValueError, match="action: 570; expected 0 to 569"):
            env.step(570)
    with pytest.raises(ValueError, match="illegal action"):
        env.step(569)
    assert env.agents == ["seat_0", "seat_1"]


@pytest.mark.parametrize("variant", ["stone_of_destiny",
                                     "four_treasures_doubles"])
def test_an_illegal_action_loses(variant):
    env = pettingzoo.env(variant)
    env.reset(seed=1)
    env.step(int(env.observe("seat_0")["action_mask"].argmax()))
    loser = env.agent_selection
    env.step(569)
    side = int(loser[-1]) % 2
    assert env.infos[loser]["illegal"] and all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if int(agent[-1]) % 2 == side else 1.0
                           for agent in env.possible_agents}


def test_the_mask_can_be_in_the_info_alone():
    env = pettingzoo.env("four_treasures", mask="info",
                         render_mode="rgb_array")
    env.reset()
    assert env.observation_space("seat_0").contains(env.observe("seat_0"))
    assert env.infos["seat_0"]["action_mask"].sum() == 45
    assert env.render().shape == (336, 336, 3)


# play(env): plays a game, and returns the rewards of the seats.
LEARNERS = {
    "torchrl": """
from torchrl.envs.libs.pettingzoo import PettingZooWrapper

def play(env):
    env = PettingZooWrapper(env, use_mask=True)
    env.set_seed(1)
    steps = env.rollout(1000)
    assert steps["next", "done"][-1]
    return [steps["next", agent, "reward"].sum().item()
            for agent in env.possible_agents]
""",
    "rllib": """
import numpy as np
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv

def play(env):
    env = PettingZooEnv(env)
    random = np.random.default_rng(1)
    seen, _ = env.reset(seed=1)
    done = {"__all__": False}
    while not done["__all__"]:
        (agent, observation), = seen.items()
        legal = np.flatnonzero(observation["action_mask"])
        seen, rewards, done, _, _ = env.step({agent: int(random.choice(legal))})
    return [float(rewards[agent]) for agent in sorted(rewards)]
""",
}
GAMES = """
from tara import pettingzoo
for variant in ("four_treasures", "sacred_hill_doubles_l1"):
    print(play(pettingzoo.env(variant)))
"""


@pytest.mark.parametrize("library", LEARNERS)
def test_wrappers_of_learners_play_whole_games(library):
    python = os.environ.get("TARA_RECIPES_PYTHON")
    if not python:
        pytest.skip("TARA_RECIPES_PYTHON is not set: see bin/test")
    run = subprocess.run(
        [python, "-W", "ignore", "-c", LEARNERS[library] + GAMES],
        capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    of_two, of_four = map(json.loads, run.stdout.splitlines()[-2:])
    assert of_two in ([1, -1], [-1, 1], [0, 0])
    assert of_four in ([1, -1, 1, -1], [-1, 1, -1, 1], [0, 0, 0, 0])
