"""Functions of arrays of positions: the same as State, one by one."""

import copy
import pickle

import numpy as np
import pytest
import tara


def array_of(states):
    return np.frombuffer(b"".join(map(bytes, states)), tara.STATE)


def states_of(array):
    return [tara.State.from_bytes(row.tobytes()) for row in array]


def positions(variant):
    """Returns about 200 positions of random games, 4 of them ends."""
    games = tara.Games(variant, 4, seed=1)
    taken, ends = [], []
    while sum(map(len, ends)) < 4:
        taken.append(games.states.copy())
        ends.append(games.step(games.sample()).final)
    taken = np.concatenate(taken)
    return np.concatenate([taken[::len(taken) // 200 + 1], *ends, taken[-3:]])


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_a_batch_is_played_as_its_positions_are_one_by_one(variant, seen):
    batch = positions(variant)
    alone = states_of(batch)
    over = tara.finished(batch)
    np.testing.assert_array_equal(over, [state.finished for state in alone])
    assert over.any() and not over.all()
    actions = tara.draw(batch, seed=5, seen=seen)
    after = tara.play(batch, actions, seen=seen, where=~over)
    mask = tara.legal_mask(batch, seen=seen)
    legal, splits = tara.legal(batch, seen=seen)
    assert splits[-1] == len(legal) == mask.sum()
    for i, state in enumerate(alone):
        own = legal[splits[i]:splits[i + 1]]
        np.testing.assert_array_equal(own, state.legal(seen=seen))
        np.testing.assert_array_equal(np.flatnonzero(mask[i]), np.sort(own))
        want = state
        if not state.finished:
            assert actions[i] in own
            want = state.play(int(actions[i]), seen=seen)
        assert after[i].tobytes() == bytes(want)
    for threads in (2, 5):
        again = tara.play(batch, actions, seen=seen, where=~over,
                          threads=threads)
        assert again.tobytes() == after.tobytes()
        np.testing.assert_array_equal(
            tara.draw(batch, seed=5, seen=seen, threads=threads), actions)
        np.testing.assert_array_equal(
            tara.legal_mask(batch, seen=seen, threads=threads), mask)


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_outcomes_and_inputs_are_those_of_single_positions(variant):
    batch = positions(variant)
    outcomes = tara.outcome(batch)
    both = tara.encode(batch, threads=2)
    for i, state in enumerate(states_of(batch)):
        row = [each[i] for each in outcomes]
        if not state.finished:
            assert row[1] == -1 and not any(np.any(row[k]) for k in (0, 2, 3))
            features = state.features()
            np.testing.assert_array_equal(both.planes[i], features.planes)
            np.testing.assert_array_equal(both.globals[i], features.globals)
            continue
        outcome = state.outcome
        assert tuple(row[3]) == outcome.points and row[2] == outcome.margin
        winner = -1 if outcome.winner is None else outcome.winner
        assert row[1] == winner
        assert tuple(row[0]) == {-1: (0, 0), 0: (1, -1), 1: (-1, 1)}[winner]


def test_any_variants_go_together_and_empty_arrays_are_fine():
    states = [tara.State(variant) for variant in tara.VARIANTS] * 3
    actions = tara.draw(states, seed=2)
    after = states_of(tara.play(states, actions))
    assert after == [state.play(int(action))
                     for state, action in zip(states, actions)]
    none = array_of([])
    assert tara.play(none, np.zeros(0, np.int64)).shape == (0,)
    assert tara.legal(none)[1].tolist() == [0]
    assert tara.encode(none).planes.shape == (0, tara.NUM_PLANES, 7, 7)


def test_draws_are_uniform_and_depend_on_the_seed():
    start = np.repeat(array_of([tara.State("four_treasures")]), 4500)
    drawn = tara.draw(start, seed=1)
    counts = np.bincount(drawn, minlength=45)
    # The mean is 100, the standard deviation 10.
    assert counts.min() > 50 and counts.max() < 150
    assert (tara.draw(start, seed=2) != drawn).mean() > 0.9


def test_what_play_returns_cannot_be_changed():
    """It is not checked again."""
    start = array_of([tara.State("four_treasures")] * 3)
    after = tara.play(start, [0, 1, 2])
    assert not after.flags.writeable
    with pytest.raises(ValueError):
        after["phase"] = 9
    with pytest.raises(ValueError):
        after.flags.writeable = True
    # Views and copies of other places are checked as any array.
    shifted = after.view("u1")[8:8 + 128].view(tara.STATE)
    with pytest.raises(ValueError, match=r"states\[0\]: impossible"):
        tara.finished(shifted)
    changed = after.copy()
    changed["variant"][1] = 77
    for call in (tara.legal_mask, tara.legal, tara.finished, tara.outcome,
                 tara.encode, lambda it: tara.play(it, [3, 3, 3])):
        with pytest.raises(ValueError, match=r"states\[1\]: .* variant 77"):
            call(changed)
    assert tara.play(after[::-1], [3, 3, 3])["seat"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("call, words", [
    (lambda s: tara.play(s, [0, 600]), r"actions\[1\]: 600; expected 0 to 569"),
    (lambda s: tara.play(s, [0, -1]), r"actions\[1\]: -1"),
    (lambda s: tara.play(s, [0, 569]), r"actions\[1\]: illegal action"),
    (lambda s: tara.play(s, [0]), r"shape \[1\]; expected shape \[2\]"),
    (lambda s: tara.play(s, [0.5, 1]), "actions: .*array of integers"),
    (lambda s: tara.play(s, [0, 1], where=[1, 0]), "where: .*array of bool"),
    (lambda s: tara.to_seen(s, [0, 570]), r"actions\[1\]: 570"),
    (lambda s: tara.to_seen(s, 3), r"expected shape \[2\] or \[2, k\]"),
    (lambda s: tara.legal_mask(s, out=np.zeros(3)), "out: .*shape"),
    (lambda s: tara.encode(s, seats=[0, 2]), r"seats\[1\]: 2; expected 0 to 1"),
    (lambda s: tara.encode(s, seats=[0]), r"seats: \[0\]; expected integers"),
    (lambda s: tara.draw(s, seed=-1), "seed: -1"),
    (lambda s: tara.transform(s, (1, 2)), "symmetry: .*four_treasures"),
    (lambda s: tara.transform(s, 3), "symmetry: 3; expected one of"),
    (lambda s: tara.symmetries("chess"), "chess"),
    (lambda s: tara.play("D4", [0]), "states: "),
    (lambda s: tara.Games("four_treasures", 2, states=s), "states alone"),
    (lambda s: tara.Games("four_treasures"), "expected both, or states"),
    (lambda s: tara.Games(states=[]), "states: 0 positions"),
    (lambda s: tara.Games(states=[s[0], tara.State("high_kings_l1")]),
     r"states\[1\] is of high_kings_l1"),
])
def test_wrong_arguments_are_named(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call([tara.State("four_treasures")] * 2)


def test_a_finished_game_is_not_played():
    batch = positions("four_treasures")
    over = int(np.flatnonzero(tara.finished(batch))[0])
    with pytest.raises(ValueError, match=rf"actions\[{over}\]: .*has ended"):
        tara.play(batch, tara.draw(batch, seed=1))


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_actions_turn_to_what_is_seen_and_back(variant):
    batch = positions(variant)
    every = np.tile(np.arange(tara.NUM_ACTIONS), (len(batch), 1))
    seen = tara.to_seen(batch, every)
    np.testing.assert_array_equal(np.sort(seen, axis=1), every)
    np.testing.assert_array_equal(tara.from_seen(batch, seen), every)
    np.testing.assert_array_equal(
        np.take_along_axis(tara.legal_mask(batch, seen=True),
                           seen.astype(np.int64), axis=1),
        tara.legal_mask(batch))
    state = states_of(batch[~tara.finished(batch)])[0]
    for action, turned in zip(state.legal(), state.legal(seen=True)):
        assert state.action_text(turned, seen=True) == state.action_text(action)


@pytest.mark.parametrize("variant", tara.VARIANTS)
def test_symmetries_keep_rules_and_inputs(variant):
    batch = positions(variant)
    symmetries = tara.symmetries(variant)
    assert symmetries[0] == (0, 0) and len(set(symmetries)) == len(symmetries)
    over = tara.finished(batch)
    for symmetry in symmetries:
        turned = tara.transform(batch, symmetry)
        table = tara.SYMMETRIES.actions[symmetry.board]
        mask = tara.legal_mask(turned)
        np.testing.assert_array_equal(mask[:, table], tara.legal_mask(batch))
        for a, b in zip(tara.encode(turned), tara.encode(batch)):
            np.testing.assert_array_equal(a[~over], b[~over])
    assert tara.transform(batch, symmetries[0]).tobytes() == batch.tobytes()


def test_tables_turn_squares_as_they_turn_hills():
    hills = [7 * rank + file for rank in range(7) for file in range(7)
             if (rank, file) not in [(0, 0), (0, 6), (6, 0), (6, 6)]]
    for actions, squares in zip(*tara.SYMMETRIES):
        np.testing.assert_array_equal(squares[hills],
                                      np.array(hills)[actions[:45]])
        assert sorted(squares) == list(range(49))


def test_inputs_have_names_and_meanings():
    for names, count in ((tara.PLANES, tara.NUM_PLANES),
                         (tara.GLOBALS, tara.NUM_GLOBALS)):
        assert [each.index for each in names.values()] == list(range(count))
        assert all(each.name == name and each.meaning
                   for name, each in names.items())
    state = tara.State("four_treasures").play("D4")
    planes, globals_ = state.features()
    assert planes[tara.PLANES["enemy_ringfort"].index].sum() == 1
    assert globals_[tara.GLOBALS["four_treasures"].index] == 1


def test_ends_are_seen_by_the_seats_that_are_asked_for():
    batch = positions("four_treasures")
    ends = batch[tara.finished(batch)]
    views = [tara.encode(ends, seats=[seat] * len(ends)).planes
             for seat in (0, 1)]
    own, enemy = (tara.PLANES[name].index
                  for name in ("own_ringfort", "enemy_ringfort"))
    np.testing.assert_array_equal(views[0][:, own].sum(axis=(1, 2)),
                                  views[1][:, enemy].sum(axis=(1, 2)))
    np.testing.assert_array_equal(tara.encode(ends).planes, views[0])
    # In a batch with others, too.
    np.testing.assert_array_equal(
        tara.encode(batch).planes[tara.finished(batch)], views[0])


@pytest.mark.parametrize("make", [lambda games: games.copy(), copy.copy,
                                  copy.deepcopy,
                                  lambda games: pickle.loads(
                                      pickle.dumps(games))])
def test_a_copy_of_games_continues_as_they_do(make):
    games = tara.Games("four_treasures", 20, seed=4)
    for _ in range(30):
        games.step(games.sample())
    actions = games.sample()  # remembered as legal until it is played
    other = make(games)
    before = games.states.copy()
    for _ in range(80):
        step, its = games.step(actions), other.step(actions)
        for a, b in zip(step, its):
            assert a.tobytes() == b.tobytes()
        actions = games.sample()
        np.testing.assert_array_equal(other.sample(), actions)
    alone = make(games)
    states = games.states.tobytes()
    alone.step(alone.sample())
    assert games.states.tobytes() == states != alone.states.tobytes()
    assert before.tobytes() != states


@pytest.mark.parametrize("state", [
    (b"", b"", b"", b"", 1), (b"x" * 64, b"x" * 64, b"x" * 32, b"xx", 1), ()])
def test_damaged_games_are_not_made(state):
    with pytest.raises(ValueError):
        tara.Games.__new__(tara.Games).__setstate__(state)


def test_games_begin_and_restart_at_given_positions():
    starts = tara.Games("four_treasures", 6)
    for _ in range(40):
        starts.step(starts.sample())
    starts = starts.states.copy()
    games = tara.Games(states=starts, seed=1)
    assert (len(games), games.variant) == (6, "four_treasures")
    ended = 0
    alone = states_of(starts)
    for _ in range(60):
        assert states_of(games.states) == alone
        actions = games.sample()
        step = games.step(actions)
        alone = [state.play(int(action))
                 for state, action in zip(alone, actions)]
        alone = [states_of(starts)[i] if state.finished else state
                 for i, state in enumerate(alone)]
        ended += step.done.sum()
    assert ended > 10
