"""tara.Search: the searches of tara.search, in steps."""

import threading
import time

import numpy as np
import pytest
import tara

START = [tara.State("four_treasures"), tara.State("stone_of_destiny"),
         tara.State("high_kings_l1")]


def evaluator(planes, globals_, mask):
    """Depends on a position alone, so that batches make no difference."""
    del globals_
    rows = planes.sum(axis=(2, 3))
    return (np.outer(rows[:, 2] - rows[:, 3], np.arange(mask.shape[1]) % 7),
            np.stack([rows[:, 1], rows[:, 2], rows[:, 3]], axis=1) % 3)


def same(one, other):
    for a, b in zip(one, other, strict=True):
        for left, right in zip(a, b, strict=True):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("evaluator", ["playouts", "network", evaluator])
@pytest.mark.parametrize("options", ["sims=40", "sims=40,leaves=4",
                                     {"sims": 24, "gumbel": True}])
def test_a_run_is_the_search_of_the_function(evaluator, options):
    if evaluator == "network":
        evaluator = tara.load()
    search = tara.Search(START, evaluator, options=options, seed=3)
    made = search.run()
    want = tara.search(START, evaluator, options=options, seed=3)
    same(search.analyses(), want)
    assert made == sum(each.simulations for each in want)
    assert search.done.all() and search.run() == 0


def test_it_does_not_matter_in_which_steps_it_searches():
    whole = tara.Search(START, evaluator, options="sims=50")
    whole.run()
    pieces = tara.Search(START, evaluator, options="sims=50")
    assert pieces.analyses() == [None] * 3
    assert pieces.step() == 0  # the roots
    assert pieces.analyses()[0].simulations == 0
    assert pieces.step() == 3
    assert pieces.run(sims=19) == 57
    assert not pieces.done.any()
    while pieces.step():
        pass
    same(pieces.analyses(), whole.analyses())


@pytest.mark.parametrize("per_tree", [1, 3])
def test_leaves_are_answered_by_whoever_asks(per_tree):
    search = tara.Search(START, None, options="sims=30")
    asked = 0
    while len(leaves := search.leaves(per_tree)[0]):
        again = search.leaves()  # the same ones wait
        assert again.states.tobytes() == leaves.tobytes()
        assert set(again.trees) <= {0, 1, 2}
        planes, globals_ = tara.encode(leaves)
        mask = tara.legal_mask(leaves, seen=True)
        search.answer(*evaluator(planes, globals_, mask))
        asked += len(leaves)
    assert search.done.all() and asked <= 93
    if per_tree == 1:
        same(search.analyses(),
             tara.search(START, evaluator, options="sims=30"))


def test_margins_are_an_optional_answer():
    def with_margin(planes, globals_, mask):
        return *evaluator(planes, globals_, mask), np.full(len(mask), 2.5)

    for found in (tara.search(START, with_margin, options="sims=1,proof=off"),
                  tara.search(START, evaluator, options="sims=1,proof=off")):
        margins = [each.margin for each in found]
        # The root's is for its side; the other one's is for its opponent.
        assert all(-2.5 <= margin <= 2.5 for margin in margins)
    search = tara.Search(START[:1], with_margin)
    search.step()
    assert search.node(0).margin == 2.5
    for wrong, words in (([1, 2], r"margin: .*shape \[1\]"),
                         ([np.nan], r"margin\[0\] has nan")):
        with pytest.raises((ValueError, TypeError), match=words):
            tara.search(START[:1], lambda p, g, m: (*evaluator(p, g, m), wrong))


def test_a_tree_is_kept_when_an_action_is_played():
    search = tara.Search(START, evaluator, options="sims=200")
    search.run()
    actions = [each.action for each in search.analyses()]
    below = [search.node(tree, [action])
             for tree, action in enumerate(actions)]
    search.play(actions)
    for tree, (state, action) in enumerate(zip(START, actions)):
        assert bytes(state.play(action)) == search.states[tree].tobytes()
        now = search.node(tree)
        assert (now.state, now.visits) == (below[tree].state,
                                           below[tree].visits)
        assert now.value == pytest.approx(below[tree].value, abs=1e-3)
    assert below[0].visits > 1
    made = search.run()  # up to 200 again
    assert 0 < made < 600
    assert [each.simulations for each in search.analyses()] == [200] * 3


def test_nodes_have_the_statistics_of_the_root():
    search = tara.Search(START, evaluator, options="sims=100")
    search.run()
    for tree, analysis in enumerate(search.analyses()):
        node = search.node(tree)
        assert node.state == START[tree]
        assert node.visits == analysis.simulations + 1
        visits = dict(zip(analysis.actions, analysis.visits))
        values = dict(zip(analysis.actions, analysis.values))
        assert node.action_visits.sum() == analysis.simulations
        for action, count, value in zip(*node[4:7]):
            assert visits[action] == count
            assert values[action] == pytest.approx(value)
            child = search.node(tree, [action])
            assert child.visits == count
            sign = 1 if child.state.side == node.state.side else -1
            assert sign * child.value == pytest.approx(value, abs=1e-3)
    untried = next(action for action, count in visits.items() if count == 0)
    assert search.node(2, [untried]) is None


def test_games_are_played_to_their_ends():
    search = tara.Search(START[:2], evaluator, options="sims=3")
    over = np.zeros(2, np.bool_)
    while not over.all():
        search.run()
        search.play([0 if each is None else each.action
                     for each in search.analyses()])
        over = tara.finished(search.states)
    assert search.analyses() == [None, None] and search.run() == 0
    assert not len(tara.Search(START, None).leaves().states) == 0


def test_a_time_ends_it():
    def slow(planes, globals_, mask):
        time.sleep(0.01)
        return evaluator(planes, globals_, mask)

    search = tara.Search(START, slow, options={"sims": 10 ** 6})
    made = search.run(ms=100)
    assert made < 3 * 1000 and not search.done.any()
    assert search.run(sims=2, ms=10 ** 6) == 6


def test_an_evaluator_that_fails_leaves_the_trees_as_they_are():
    fails = False

    def moody(planes, globals_, mask):
        if fails:
            raise RuntimeError("no mood")
        return evaluator(planes, globals_, mask)

    search = tara.Search(START, moody, options="sims=60")
    search.run(sims=20)
    fails = True
    with pytest.raises(RuntimeError, match="no mood"):
        search.run()
    fails = False
    search.run(sims=40)
    same(search.analyses(), tara.search(START, evaluator, options="sims=60"))


@pytest.mark.parametrize("call, words", [
    (lambda: tara.Search(START, None).run(), "no evaluator; expected leaves"),
    (lambda: tara.Search(START, None).answer(0, 0), "no leaf waits"),
    (lambda: tara.Search(START, 3), "evaluator: 3; expected"),
    (lambda: tara.Search(START, evaluator, options="sims=x"), "sims"),
    (lambda: tara.Search(START, evaluator, options="gumbel=on").run(sims=3),
     "gumbel=true"),
    (lambda: tara.Search(START).run(sims=0), "sims: 0; expected 1 to"),
    (lambda: tara.Search(START).run(ms=-1), "ms: -1; expected 1 to"),
    (lambda: tara.Search(START).node(3), "tree: 3; expected 0 to 2"),
    (lambda: tara.Search(START).node(0, [569]), r"line\[0\]: illegal action"),
    (lambda: tara.Search(START).play([0, 569, 0]), r"actions\[1\]: illegal"),
    (lambda: tara.Search(START).play([0]), r"shape \[1\]; expected shape"),
])
def test_wrong_calls_say_what_was_expected(call, words):
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_nothing_else_is_done_while_leaves_wait():
    search = tara.Search(START, evaluator)
    n = len(search.leaves().states)
    for call in (search.run, lambda: search.play([0, 0, 0])):
        with pytest.raises(ValueError, match="3 leaves wait; expected answer"):
            call()
    with pytest.raises(ValueError, match="logits"):
        search.answer(np.zeros((n, 3)), np.zeros((n, 3)))
    search.answer(np.zeros((n, tara.NUM_ACTIONS)), np.zeros((n, 3)))
    search.run(sims=5)


def test_one_call_at_a_time():
    search = tara.Search(START, lambda *given: (search.analyses(),))
    with pytest.raises(RuntimeError, match="analyses: .* in use"):
        search.run()
    inside, leave = threading.Event(), threading.Event()

    def waits(*given):
        inside.set()
        leave.wait()
        return evaluator(*given)

    search = tara.Search(START, waits, options="sims=2")
    thread = threading.Thread(target=search.run)
    thread.start()
    inside.wait()
    with pytest.raises(RuntimeError, match="states: .* in use"):
        print(search.states)
    leave.set()
    thread.join()
    assert search.done.all()


@pytest.mark.filterwarnings("ignore")  # Debian 12's PyTorch, of NumPy 2
def test_answers_are_tensors_of_any_type():
    torch = pytest.importorskip("torch")
    want = tara.search(START, evaluator, options="sims=20")

    def tensors(planes, globals_, mask):
        logits, result = evaluator(planes, globals_, mask)
        # Exact in 8 bits of mantissa.
        return (torch.from_dlpack(logits).requires_grad_(),
                torch.from_dlpack(np.round(result * 8) / 8).bfloat16())

    def rounded(planes, globals_, mask):
        logits, result = evaluator(planes, globals_, mask)
        return logits, np.round(result * 8) / 8

    same(tara.search(START, tensors, options="sims=20"),
         tara.search(START, rounded, options="sims=20"))
    assert len(want) == 3
