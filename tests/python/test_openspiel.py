"""OpenSpiel's own checker, for all variants; the games are those of the rules.
"""

import copy
import pickle

import numpy as np
import pyspiel
import pytest
import tara
import tara.openspiel
from open_spiel.python.algorithms import mcts
from tara import pettingzoo


def load(variant, **parameters):
    return pyspiel.load_game("python_tara", {"variant": variant, **parameters})


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_the_game_is_one_of_openspiel(variant):
    game = pyspiel.load_game(f"python_tara(variant={variant})")
    pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)
    kind = game.get_type()
    assert kind.information == kind.Information.PERFECT_INFORMATION
    assert kind.utility == kind.Utility.ZERO_SUM
    assert game.num_players() == tara.State(variant).seats
    assert game.num_distinct_actions() == tara.NUM_ACTIONS


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_a_game_is_that_of_pettingzoo(variant):
    """The same actions, observations and results, and the same texts."""
    env = pettingzoo.env(variant, render_mode="ansi", mask="info")
    env.reset()
    game = load(variant)
    state = game.new_initial_state()
    shape = game.observation_tensor_shape()
    assert tuple(shape) == env.observation_space("seat_0").shape
    random = np.random.default_rng(4)
    texts = []
    while not state.is_terminal():
        observation, _, _, _, info = env.last()
        assert env.agent_selection == f"seat_{state.current_player()}"
        legal = state.legal_actions()
        assert legal == np.flatnonzero(info["action_mask"]).tolist()
        for player in range(game.num_players()):
            np.testing.assert_array_equal(
                np.reshape(state.observation_tensor(player), shape),
                observation)
        assert str(state) == env.render() == state.position.text
        before = state.position
        assert sorted(map(state.action_to_string, legal)) == sorted(
            before.legal_text())
        action = int(random.choice(legal))
        texts.append(state.action_to_string(action))
        state.apply_action(action)
        assert state.position == before.play(texts[-1])
        env.step(action)
    replayed = tara.State(variant)
    for text in texts:
        replayed = replayed.play(text)
    assert replayed == state.position and replayed.finished
    assert state.returns() == [env.rewards[each]
                               for each in env.possible_agents]
    assert state.legal_actions() == []
    assert not any(state.observation_tensor(0))


def after(state, plies):
    state = state.clone()
    for _ in range(plies):
        state.apply_action(state.legal_actions()[-1])
    return state


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_copies_are_independent(variant):
    game = load(variant, options="compensation=-2.5")
    state = after(game.new_initial_state(), 9)
    text = pyspiel.serialize_game_and_state(game, state)
    _, read = pyspiel.deserialize_game_and_state(text)
    copies = [state.clone(), copy.deepcopy(state), read,
              pickle.loads(pickle.dumps(state))]
    further = after(state, 1)
    for each in copies:
        assert each.position == state.position != further.position
        assert each.history() == state.history()
        each.apply_action(each.legal_actions()[-1])
        assert str(each) == str(further)
    assert len(state.history()) == 9


def test_rule_options_are_written_so_that_a_game_string_can_have_them():
    name = "python_tara(options=compensation:-2.5;pie_rule:true,"\
           "variant=stone_of_destiny)"
    options = "compensation=-2.5,pie_rule=true"
    for game in (load("stone_of_destiny", options=options),
                 pyspiel.load_game(name)):
        assert str(game) == name
        start = game.new_initial_state()
        assert start.position == tara.State("stone_of_destiny", options)
        assert "swap" in map(after(start, 1).action_to_string,
                             after(start, 1).legal_actions())
    assert str(load("four_treasures")) == "python_tara(variant=four_treasures)"
    assert load("four_treasures", options="-").get_parameters() == {
        "variant": "four_treasures"}
    assert str(pyspiel.load_game("python_tara")) == (
        f"python_tara(variant={tara.VARIANTS[0]})")


def test_returns_know_the_compensation():
    for compensation, winner in ((12, 1), (-12, 0)):
        game = load("four_treasures_doubles",
                    options=f"compensation={compensation}")
        state = game.new_initial_state()
        while not state.is_terminal():
            assert state.returns() == [0] * 4
            state.apply_action(state.legal_actions()[0])
        assert state.position.outcome.winner == winner
        assert state.returns() == ([-1, 1, -1, 1] if winner else
                                   [1, -1, 1, -1])


def test_a_game_may_begin_with_any_position():
    game = load("high_kings_l2", options="pie_rule=true")
    for plies in (0, 1, 12):
        state = after(game.new_initial_state(), plies)
        again = game.new_initial_state(str(state))
        assert again.position == state.position
        assert again.history() == []
        clone = again.clone()
        assert after(clone, 3).position == after(state, 3).position
    with pytest.raises(ValueError, match="of high_kings_l1 with options -; "
                       "expected high_kings_l2 with pie_rule=true"):
        game.new_initial_state(tara.State("high_kings_l1").text)
    with pytest.raises(ValueError, match="compensation=1"):
        game.new_initial_state(
            tara.State("high_kings_l2", "compensation=1").text)
    with pytest.raises(ValueError, match="position"):
        game.new_initial_state("nonsense")
    with pytest.raises(ValueError, match="position: "):
        game.new_initial_state({"position": 1})


@pytest.mark.parametrize("parameters, words", [
    ("variant=chess", "chess"),
    ("variant=3", "parameter variant"),
    ("options=pie_rule:maybe", "pie_rule"),
    ("options=none", "none"),
    ("opponent=random", "opponent"),
])
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises((ValueError, pyspiel.SpielError), match=words):
        pyspiel.load_game(f"python_tara({parameters})")


def test_an_illegal_action_changes_nothing():
    state = after(load("four_treasures").new_initial_state(), 3)
    before, history = state.position, state.history()
    for wrong in (569, state.history()[0], -1, 600):
        with pytest.raises((ValueError, pyspiel.SpielError), match=str(wrong)):
            state.apply_action(wrong)
        assert state.position == before and state.history() == history
    with pytest.raises(ValueError, match="illegal action 569; legal, as"):
        state.action_to_string(569)


def test_observers_take_no_parameters():
    game = load("four_treasures")
    with pytest.raises(ValueError, match="observation parameters"):
        game.make_py_observer(None, {"colour": 1})
    state = after(game.new_initial_state(), 2)
    assert state.observation_string(0) == str(state)
    assert state.information_state_string(1) == state.history_str()


def test_algorithms_of_openspiel_play():
    game = load("four_treasures")
    random = np.random.RandomState(1)
    bot = mcts.MCTSBot(game, 2, 5, mcts.RandomRolloutEvaluator(
        1, random_state=random), random_state=random)
    state = game.new_initial_state()
    for _ in range(2):
        state.apply_action(bot.step(state))
    fast = pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 2.0, 5,
                           100, False, 1, False)
    _, action = fast.step_with_policy(state)  # step crashes, with any game
    state.apply_action(action)
    assert len(state.history()) == 3


def test_states_from_other_positions_have_histories_of_their_own():
    game = load("four_treasures")
    starts = [tara.State("four_treasures").play(text).text
              for text in ("D4", "A2")]
    states = [game.new_initial_state(start) for start in starts]
    states.append(game.new_initial_state())
    texts = [state.information_state_string(0) for state in states]
    assert texts == [*starts, ""]
    for state in states:
        state.apply_action(state.legal_actions()[0])
    texts += [state.information_state_string(0) for state in states]
    texts += [state.clone().information_state_string(0) for state in states]
    assert len(set(texts)) == 6 and texts[3:6] == texts[6:]
    assert texts[3].startswith(starts[0]) and texts[5] == (
        states[2].history_str())


# What the bounds of the length of games are derived from.


def test_pairs_of_adjacent_hills_cover_all_but_three():
    """So of hills no two of which are adjacent there are 21 + 3 at most."""
    row = "ABCDEFG"
    pairs = {f"{a}{rank}": f"{b}{rank}" for rank in range(1, 8)
             for a, b in (("BC", "DE") if rank in (1, 7)
                          else ("AB", "CD", "EF"))}
    pairs.update(G2="G3", G4="G5")
    hills = {f"{file}{rank}" for file in row for rank in range(1, 8)} - {
        "A1", "G1", "A7", "G7"}
    covered = [*pairs, *pairs.values()]
    assert len(pairs) == 21 and len(set(covered)) == 42
    assert len(hills - set(covered)) == 3


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_hills_stay_taken_and_change_sides_once(variant):
    games = tara.Games(variant, 200, seed=8)
    changed = np.zeros(200, np.uint64)
    swaps = 0
    for _ in range(150):
        before = games.states.copy()
        step = games.step(games.sample())
        now = games.states.copy()
        now[step.done == 1] = step.final
        red, blue = before["ringforts"].T
        to_red, to_blue = now["ringforts"].T
        changes = (red & to_blue) | (blue & to_red)
        assert not ((red | blue) & ~(to_red | to_blue)).any()
        for links in ("links_east", "links_north"):
            assert not (before[links] & ~now[links]).any()
        if variant != "stone_of_destiny":
            assert not (changed & changes).any()
        changed |= changes
        changed[step.done == 1] = 0
        swaps += np.count_nonzero(changes)
    assert swaps > 0


@pytest.mark.parametrize("variant, options, longest", [
    ("sacred_hill_l1", "-", 45 + 24),
    ("four_treasures_doubles", "free_capture=true", 45 + 24),
    ("poisoned_chalice", "pie_rule=true", 45 + 24 + 1),
    ("high_kings_l1", "-", (45 + 24 + 3) * 40 + 40),
    ("high_kings_l2", "no_progress_limit=1,pie_rule=true", 72 + 1 + 1),
    ("stone_of_destiny", "-", 45 + 76 * (2 + 39) + 40),
    ("stone_of_destiny", "no_progress_limit=1", 45 + 76 * 2 + 1),
])
def test_games_have_a_bound(variant, options, longest):
    game = load(variant, options=options)
    assert game.max_game_length() == longest
    for seed in range(5):
        state = game.new_initial_state()
        random = np.random.default_rng(seed)
        while not state.is_terminal():
            state.apply_action(int(random.choice(state.legal_actions())))
        assert len(state.history()) <= longest
