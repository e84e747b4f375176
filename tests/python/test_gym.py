"""Gymnasium's own checker, for all variants, without warnings; opponents.

Games in step are those of gymnasium's own vector of single environments.
"""

import gymnasium
import numpy as np
import pytest
import tara
import tara.gym
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

# The names of planes and globals, in their order.
INPUTS = [*tara.PLANES, *tara.GLOBALS]
NAMES = {variant: "".join(word.capitalize() for word in variant.split("_"))
         for variant in tara.VARIANTS}


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_the_environment_is_one_of_gymnasium(variant):
    env = gymnasium.make(f"tara/{NAMES[variant]}-v0").unwrapped
    check_env(env, skip_render_check=variant != "four_treasures")


@pytest.mark.parametrize("make", [tara.gym.TaraEnv, tara.gym.TaraVectorEnv])
def test_an_illegal_action_loses(make):
    env = make("four_treasures", render_mode="ansi")
    vector = make is tara.gym.TaraVectorEnv
    _, info = env.reset(seed=1)
    for _ in range(3):
        info = env.step(info["action_mask"].argmax(axis=-1))[-1]
        assert "illegal" not in info
    before = env.render()
    _, reward, done, _, info = env.step(np.array([569]) if vector else 569)
    assert reward == -1 and done and info["illegal"]
    if vector:
        assert info["final_obs"][0].shape == tara.gym.OBSERVATION_SHAPE
        assert not info["final_info"]["action_mask"].any()
        start = tara.State.parse(env.render()[0])
        assert start.text != before[0] and start.legal().size >= 44
        env.step(info["action_mask"].argmax(axis=-1))  # the next game
    else:
        assert env.render() == before and not info["action_mask"].any()
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)


def test_one_illegal_action_ends_one_of_many_games():
    envs = tara.gym.TaraVectorEnv("four_treasures", 4, None)
    twin = tara.gym.TaraVectorEnv("four_treasures", 4, None)
    _, info = envs.reset(seed=1)
    twin.reset(seed=1)
    for turn in range(5):
        actions = pick(info["action_mask"], turn)
        wrong = actions.copy()
        if turn == 4:
            wrong[2] = 569
        _, reward, done, _, info = envs.step(wrong)
        its = twin.step(actions)[-1]
    np.testing.assert_array_equal(reward, [0, 0, -1, 0])
    np.testing.assert_array_equal(done, [False, False, True, False])
    np.testing.assert_array_equal(info["illegal"], done)
    others = [0, 1, 3]
    np.testing.assert_array_equal(info["action_mask"][others],
                                  its["action_mask"][others])
    assert info["action_mask"][2].sum() == 45  # at the start


def test_pictures_show_the_pieces():
    state = tara.State("four_treasures").play("D4")
    image = tara.gym.picture(state)
    assert image.shape == (336, 336, 3) and image.dtype == np.uint8
    assert tuple(image[168, 168]) == (190, 40, 40)  # Red's, in the middle
    assert not np.array_equal(image, tara.gym.picture(state.play("D5")))


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


class Last:
    """A player that draws nothing; by index and by text."""

    def choose(self, states):
        return [state.legal()[-1] if i % 2 else
                state.action_text(state.legal()[-1])
                for i, state in enumerate(states)]


@pytest.mark.parametrize("opponent", ["random", "greedy", "level:1",
                                      "mcts:sims=5", "best:sims=2",
                                      Last(), Last().choose, None])
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
    ({"opponent": "chess"}, "unknown player 'chess'; expected random"),
    ({"opponent": "net:"}, "net:"),
    ({"opponent": "random:sims=3"}, "random:sims=3"),
    ({"opponent": "mcts:depth=3"}, "depth"),
    ({"opponent": 3}, "opponent: 3; expected a player spec"),
    ({"side": 2}, "side: 2"),
    ({"side": 0, "opponent": None}, "side: 0; expected None without"),
    ({"options": "pie_rule=maybe"}, "pie_rule"),
    ({"render_mode": "human"}, "human"),
    ({"illegal": "pass"}, "illegal: 'pass'; expected 'lose' or 'raise'"),
])
@pytest.mark.parametrize("make", [tara.gym.TaraEnv, tara.gym.TaraVectorEnv])
def test_wrong_arguments_are_named(make, arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        make("four_treasures", **arguments)


@pytest.mark.parametrize("arguments, words", [
    ({"num_envs": 0}, "num_envs: 0"), ({"threads": 0}, "threads: 0")])
def test_wrong_numbers_of_games_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        tara.gym.TaraVectorEnv("four_treasures", **arguments)


def test_an_illegal_action_that_raises_changes_nothing():
    env = gymnasium.make("tara/FourTreasures-v0", opponent="mcts:sims=3",
                         render_mode="ansi", illegal="raise").unwrapped
    envs = tara.gym.TaraVectorEnv("four_treasures", 3, "mcts:sims=3",
                                  render_mode="ansi", illegal="raise")
    for each, wrong, words in ((env, 569, r"actions\[0\]: illegal action"),
                               (env, 570, r"actions\[0\]: 570"),
                               (envs, [40, 569, 40], r"actions\[1\]"),
                               (envs, [40, 40], r"\[2\]; expected shape \[3\]")):
        for seed in (1, 2):
            each.reset(seed=seed)
            before = each.render()
            random = each.np_random.bit_generator.state
            with pytest.raises(ValueError, match=words):
                each.step(wrong)
            assert each.render() == before
            assert each.np_random.bit_generator.state == random
    envs.step(envs._play.mask().argmax(axis=1))  # the games go on


def test_games_in_step_are_not_reset_one_by_one():
    envs = tara.gym.TaraVectorEnv("four_treasures", 2)
    envs.reset(options={})
    with pytest.raises(ValueError, match="options: reset_mask"):
        envs.reset(options={"reset_mask": np.array([True, False])})


@pytest.mark.parametrize("make", [tara.gym.TaraEnv, tara.gym.TaraVectorEnv])
def test_a_step_and_a_picture_need_a_game(make):
    env = make("four_treasures", render_mode="ansi")
    for call in (lambda: env.step(np.array([0])), env.render):
        with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
            call()


def test_a_game_that_is_over_is_not_played():
    env = tara.gym.TaraEnv("four_treasures", render_mode="ansi")
    _, _, text = play(env, 1)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    assert env.render() == text


@pytest.mark.parametrize("choose, words", [
    (lambda states: 1 / 0, "division"),
    (lambda states: [], "an action for each of 1 positions"),
    (lambda states: [569], "569 in .*; expected a legal action"),
    (lambda states: ["pass"], "'pass' in .*; expected a legal action"),
])
def test_an_opponent_that_fails_ends_the_games(choose, words):
    now = Last().choose
    env = tara.gym.TaraVectorEnv("four_treasures", 1,
                                 lambda states: now(states), side=0)
    _, info = env.reset(seed=1)
    now = choose
    with pytest.raises((ValueError, ZeroDivisionError), match=words):
        env.step(info["action_mask"].argmax(axis=1))
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(info["action_mask"].argmax(axis=1))
    now = Last().choose
    _, info = env.reset()
    env.step(info["action_mask"].argmax(axis=1))


def pick(mask, turn):
    """Returns a legal action of each game, another in each turn."""
    return np.array([np.flatnonzero(row)[(7 * turn + i) % row.sum()]
                     for i, row in enumerate(mask)])


@pytest.mark.parametrize("variant", tara.VARIANTS)
@pytest.mark.parametrize("side", [0, 1])
def test_games_in_step_are_those_of_single_environments(variant, side):
    """And so is all that is returned, as gymnasium itself has it."""
    envs = gymnasium.make_vec(f"tara/{NAMES[variant]}-v0", num_envs=3,
                              opponent=Last(), side=side, render_mode="ansi")
    assert isinstance(envs, tara.gym.TaraVectorEnv)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    singles = SyncVectorEnv(
        [lambda: tara.gym.TaraEnv(variant, Last(), side, render_mode="ansi")
         for _ in range(3)], autoreset_mode=AutoresetMode.SAME_STEP)
    for name in ("observation_space", "action_space",
                 "single_observation_space", "single_action_space"):
        assert getattr(envs, name) == getattr(singles, name)
    ours, theirs = envs.reset(seed=1), singles.reset(seed=1)
    ended = turn = 0
    while ended < 4 or turn < 40:
        assert data_equivalence(ours, theirs, exact=True)
        assert envs.observation_space.contains(ours[0])
        assert envs.render() == singles.render()
        actions = pick(ours[-1]["action_mask"], turn)
        ours, theirs = envs.step(actions), singles.step(actions)
        ended += ours[2].sum()
        turn += 1


@pytest.mark.parametrize("opponent", ["random", "mcts:sims=4", "best:sims=2",
                                      None])
def test_one_game_in_step_is_the_environment(opponent):
    """The draws of both are the same, game after game."""
    envs = tara.gym.TaraVectorEnv("four_treasures", 1, opponent)
    env = tara.gym.TaraEnv("four_treasures", opponent)
    (seen, info), (one, its) = envs.reset(seed=6), env.reset(seed=6)
    for turn in range(70):
        np.testing.assert_array_equal(seen[0], one)
        np.testing.assert_array_equal(info["action_mask"][0],
                                      its["action_mask"])
        actions = pick(info["action_mask"], turn)
        seen, reward, done, _, info = envs.step(actions)
        one, its_reward, its_done, _, its = env.step(actions[0])
        assert reward == [its_reward] and done == [its_done]
        if its_done:
            np.testing.assert_array_equal(info["final_obs"][0], one)
            one, its = env.reset()


def test_games_in_step_are_the_same_again_with_the_seed():
    envs = gymnasium.make_vec("tara/SacredHillL1-v0", num_envs=40,
                              vectorization_mode="vector_entry_point",
                              opponent="random", threads=2)
    envs = RecordEpisodeStatistics(envs)  # as learners wrap it
    runs = []
    for seed in (3, 3, 4):
        steps = [envs.reset(seed=seed)]
        for turn in range(60):
            steps.append(envs.step(pick(steps[-1][-1]["action_mask"], turn)))
        runs.append(steps)
        sides = envs.unwrapped._play._sides
        assert 8 < sides.sum() < 32  # drawn for each
        won = sum((step[1] * step[2]).sum() for step in steps[1:])
        ended = sum(step[2].sum() for step in steps[1:])
        assert ended > 60 and abs(won) < ended
        episodes = [step[-1]["episode"]["r"].sum() for step in steps[1:]
                    if "episode" in step[-1]]
        assert sum(episodes) == won
    same = [all(np.array_equal(a[0], b[0]) for a, b in zip(runs[0], other))
            for other in runs[1:]]
    assert same == [True, False]


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_the_last_observation_is_of_the_final_position(variant):
    """As one's own seat sees it; with a mask of zeros."""
    env = tara.gym.TaraEnv(variant, Last(), side=0, render_mode="ansi")
    observation, info = env.reset(seed=1)
    seen = [observation]
    while True:
        action = int(np.flatnonzero(info["action_mask"])[0])
        observation, _, terminated, _, info = env.step(action)
        assert not any(np.shares_memory(observation, each) for each in seen)
        seen.append(observation)
        if terminated:
            break
    assert env.observation_space.contains(observation)
    assert not info["action_mask"].any() and not env.action_masks().any()
    state = tara.State.parse(env.render())
    boards = np.frombuffer(bytes(state), tara.STATE)["ringforts"][0]
    for name, board in (("own_ringfort", boards[0]),
                        ("enemy_ringfort", boards[1])):
        plane = observation[INPUTS.index(name)]
        assert plane.sum() == int(board).bit_count()
    for name in ("placement", "manoeuvres", "battle", "link", "legal_hill",
                 "legal_actions"):
        assert not observation[INPUTS.index(name)].any()
    margin = observation[INPUTS.index("standing_margin"), 3, 3] * 10
    assert margin == pytest.approx(state.outcome.margin)
    assert observation[INPUTS.index("doubles"), 3, 3] == (state.seats == 4)
    before = observation.copy()
    info["action_mask"][:] = 1
    assert not env.action_masks().any()
    np.testing.assert_array_equal(observation, before)


def test_masks_are_where_trainers_ask_for_them():
    env = gymnasium.make("tara/FourTreasures-v0")
    _, info = env.reset(seed=1)
    masks = env.get_wrapper_attr("action_masks")()
    assert masks.dtype == np.bool_
    np.testing.assert_array_equal(masks, info["action_mask"])


def test_a_random_opponent_takes_all_actions_alike():
    envs = tara.gym.TaraVectorEnv("four_treasures", 900, "random", side=1)
    envs.reset(seed=1)  # Red begins: any of 45 hills
    _, counts = np.unique(envs._play.turns["ringforts"][:, 0],
                          return_counts=True)
    assert len(counts) == 45
    # The mean is 20, the standard deviation 4.4.
    assert counts.min() > 2 and counts.max() < 42


@pytest.mark.parametrize("variant", ["four_treasures_doubles",
                                     "stone_of_destiny"])
def test_without_an_opponent_one_plays_all_seats(variant):
    envs = tara.gym.TaraVectorEnv(variant, 8, None)
    games = tara.Games(variant, 8)
    _, info = envs.reset()
    ended = 0
    for turn in range(200):
        np.testing.assert_array_equal(info["action_mask"],
                                      games.legal_mask(seen=True))
        actions = pick(info["action_mask"], turn)
        movers = games.seat % 2
        step = games.step(actions, seen=True)
        seen, reward, done, _, info = envs.step(actions)
        np.testing.assert_array_equal(reward,
                                      step.reward[np.arange(8), movers])
        np.testing.assert_array_equal(done, step.done)
        ended += done.sum()
    assert ended > 0
