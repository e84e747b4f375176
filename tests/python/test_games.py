"""Games in step: the same games as one by one, in memory that is not copied."""

import threading

import numpy as np
import pytest
import tara

from conftest import in_threads


def states_of(games):
    return [tara.State.from_bytes(row.tobytes()) for row in games.states]


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_games_in_step_are_those_played_one_by_one(variant):
    games = tara.Games(variant, 20, seed=5)
    one_by_one = [tara.State(variant)] * 20
    ended = 0
    for _ in range(160):
        assert states_of(games) == one_by_one
        np.testing.assert_array_equal(games.seat,
                                      [state.seat for state in one_by_one])
        mask = games.legal_mask()
        for row, state in zip(mask, one_by_one):
            np.testing.assert_array_equal(np.flatnonzero(row), state.legal())
        actions = games.sample()
        assert mask[np.arange(20), actions].all()
        step = games.step(actions)
        finals = iter(step.final)
        for i, action in enumerate(actions):
            state = one_by_one[i].play(int(action))
            assert step.done[i] == state.finished
            if not state.finished:
                assert not step.reward[i].any() and step.margin[i] == 0
            else:
                final = tara.State.from_bytes(next(finals).tobytes())
                assert final == state
                outcome = state.outcome
                assert step.margin[i] == outcome.margin
                want = {None: (0, 0), 0: (1, -1), 1: (-1, 1)}[outcome.winner]
                assert tuple(step.reward[i]) == want
                state = tara.State(variant)
                ended += 1
            one_by_one[i] = state
        assert next(finals, None) is None
    assert ended > 10


def test_rewards_know_the_compensation():
    games = tara.Games("four_treasures", 50, options="compensation=12")
    red = 0
    for _ in range(60):
        red += games.step(games.sample()).reward[:, 0].sum()
    assert red < 0


def play(n, threads, seed=9):
    games = tara.Games("four_treasures", n, seed=seed, threads=threads)
    steps = [games.step(games.sample()) for _ in range(50)]
    return np.stack([step.margin for step in steps]), games.states.copy()


def test_a_game_depends_on_its_seed_and_place_alone():
    margins, states = play(64, 1)
    for n, threads in ((64, 3), (40, 1), (100, 2)):
        other_margins, other = play(n, threads)
        same = min(n, 64)
        np.testing.assert_array_equal(other_margins[:, :same],
                                      margins[:, :same])
        assert other[:same].tobytes() == states[:same].tobytes()
    assert play(64, 1, seed=10)[1].tobytes() != states.tobytes()


def test_any_integers_are_actions():
    games = [tara.Games("sacred_hill_l1", 8) for _ in range(4)]
    actions = games[0].sample()
    for each, of in zip(games, (actions, actions.astype(np.int64),
                                actions.astype(np.int32),
                                [int(action) for action in actions])):
        each.step(of)
        assert each.states.tobytes() == games[0].states.tobytes()


@pytest.mark.parametrize("seen", [False, True])
def test_games_stay_as_they_are_where_none_is_to_be_played(seen):
    games = tara.Games("four_treasures", 40, seed=3)
    alone = [tara.State("four_treasures")] * 40
    rng = np.random.default_rng(1)
    ended = 0
    for _ in range(300):
        where = rng.random(40) < 0.5
        actions = np.where(where, [int(state.legal(seen=seen)[-1])
                                   for state in alone], -5)
        step = games.step(actions, seen=seen, where=where)
        finals = iter(step.final)
        for i in np.flatnonzero(where):
            state = alone[i].play(int(alone[i].legal()[-1]))
            assert step.done[i] == state.finished
            if state.finished:
                ended += 1
                assert next(finals).tobytes() == bytes(state)
                assert step.margin[i] == state.outcome.margin
                state = tara.State("four_treasures")
            alone[i] = state
        assert next(finals, None) is None
        for each in step[:3]:
            assert not each[~where].any()
        assert states_of(games) == alone
    assert ended > 20


def test_a_game_that_stays_keeps_what_was_drawn_for_it():
    games = tara.Games("sacred_hill_l1", 2)
    actions = games.sample()
    games.step(actions, where=np.array([True, False]))
    games.step(actions, where=np.array([False, True]))
    with pytest.raises(ValueError, match=r"actions\[0\]"):
        games.step(actions)  # its hill is taken now


def test_arrays_are_written_in_place_and_views_are_read_only():
    games = tara.Games("sacred_hill_l1", 8)
    mask = np.zeros((8, tara.NUM_ACTIONS), np.uint8)
    assert games.legal_mask(mask) is mask
    actions = np.zeros(8, np.uint16)
    assert games.sample(actions) is actions
    view = games.states
    before = view.copy()
    games.step(actions)
    assert view.tobytes() != before.tobytes()  # the games' own memory
    for each in (games.states, games.seat):
        assert not each.flags.writeable
        with pytest.raises(ValueError):
            each[:] = 0
    del games
    view.tobytes()  # lives as long as the view


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_what_is_seen_is_the_same_position_turned(variant):
    """Mask and actions as seen: those of the planes that observe shows."""
    games = tara.Games(variant, 16, seed=2)
    turned = 0
    for _ in range(60):
        before = states_of(games)
        mask = games.legal_mask(seen=True)
        np.testing.assert_array_equal(mask.sum(axis=1),
                                      games.legal_mask().sum(axis=1))
        for row, state in zip(mask, before):
            np.testing.assert_array_equal(np.flatnonzero(row),
                                          np.sort(state.legal(seen=True)))
        planes = games.observe().planes
        seen = mask.argmax(axis=1)
        step = games.step(seen, seen=True)
        for i, state in enumerate(before):
            if step.done[i]:
                continue
            after = states_of(games)[i]
            played = [int(action) for action in state.legal()
                      if state.play(int(action)) == after]
            assert played
            turned += seen[i] not in played
        # Positions that look the same have the same legal actions.
        for i in range(16):
            for j in range(i):
                if planes[i].tobytes() == planes[j].tobytes():
                    np.testing.assert_array_equal(mask[i], mask[j])
    assert turned > 0


@pytest.mark.parametrize("make, error, words", [
    (lambda g: tara.Games("chess", 3), ValueError, ["chess"]),
    (lambda g: tara.Games("four_treasures", 3, threads=0), ValueError,
     ["threads: 0"]),
    (lambda g: tara.Games("four_treasures", 3, options="x=1"), ValueError,
     ["x"]),
    (lambda g: g.step(np.zeros(8)), TypeError, ["integers", "float64"]),
    (lambda g: g.step(np.zeros(7, int)), ValueError, ["[7]", "[8]"]),
    (lambda g: g.step(np.zeros((8, 1), int)), ValueError, ["[8, 1]"]),
    (lambda g: g.step(np.full(8, 570)), ValueError,
     ["actions[0]: 570", "0 to 569"]),
    (lambda g: g.step(np.full(8, 60000, np.uint16)), ValueError,
     ["actions[0]: 60000"]),
    (lambda g: g.step(np.full(8, 65535, np.uint16)), ValueError,
     ["actions[0]: 65535"]),
    (lambda g: g.step(np.full(8, -1)), ValueError, ["actions[0]: -1"]),
    (lambda g: g.step(g.sample(), where=np.ones(8)), TypeError,
     ["where: ", "bool", "float64"]),
    (lambda g: g.step(g.sample(), where=np.ones(7, bool)), ValueError,
     ["where: ", "[7]", "[8]"]),
    (lambda g: g.step(np.full(8, 569)), ValueError,
     ["actions[0]: illegal action pass", "legal: "]),
    (lambda g: g.step(None), TypeError, ["integers"]),
    (lambda g: g.sample(np.zeros(8, np.int64)), ValueError,
     ["out: ", "uint16", "[8]"]),
    (lambda g: g.sample(np.zeros(9, np.uint16)), ValueError, ["[8]"]),
    (lambda g: g.legal_mask(np.zeros((8, 1140), np.uint8)[:, ::2]),
     ValueError, ["C-contiguous"]),
    (lambda g: g.observe(layout="X"), ValueError, ["'X'"]),
    (lambda g: g.observe((1, 2)), ValueError, ["out: "]),
])
def test_wrong_arguments_are_named_and_nothing_moves(make, error, words):
    games = tara.Games("sacred_hill_l1", 8)
    before = games.states.tobytes()
    with pytest.raises(error) as raised:
        make(games)
    for word in words:
        assert word in str(raised.value)
    assert games.states.tobytes() == before


def test_one_illegal_action_moves_no_game():
    games = tara.Games("sacred_hill_l1", 8)
    actions = games.sample().astype(np.int64)
    before = games.states.tobytes()
    actions[6] = 569
    with pytest.raises(ValueError, match=r"actions\[6\]"):
        games.step(actions)
    assert games.states.tobytes() == before


def test_an_array_that_cannot_be_written_is_refused():
    games = tara.Games("sacred_hill_l1", 8)
    out = np.zeros(8, np.uint16)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="writable"):
        games.sample(out)


def test_calls_from_several_threads_take_turns():
    games = tara.Games("sacred_hill_l1", 500)

    def masks():
        for _ in range(20):
            assert games.legal_mask().any(axis=1).all()

    threads = [threading.Thread(target=masks) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        games.step(games.sample())
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("seen", [False, True])
def test_steps_from_several_threads_play_by_the_rules(seen):
    """What one thread has drawn, another one's step may make illegal."""
    games = tara.Games("poisoned_chalice", 300)
    refused = []

    def play():
        for _ in range(200):
            try:
                if seen:
                    mask = games.legal_mask(seen=True)
                    games.step(mask.argmax(axis=1), seen=True)
                else:
                    games.step(games.sample())
            except ValueError as error:
                refused.append(str(error))

    in_threads(4, play)
    assert all("illegal action" in message for message in refused)
    assert len(states_of(games)) == 300  # all of them are possible
