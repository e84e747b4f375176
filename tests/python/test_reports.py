"""Reports of the program as tables: the real program, matches of a second."""

import pandas
import polars
import pytest
import tara


def test_ratings_have_a_row_per_player_and_variant(tmp_path):
    report = tara.rate("random", "greedy", variant="sacred_hill_l1", games=8,
                       store=tmp_path / "games.db", threads=1)
    table = polars.DataFrame(report["players"])
    assert table["name"].to_list() == ["random"] * 2 + ["greedy"] * 2
    assert set(table["variant"]) == {"overall", "sacred_hill_l1"}
    assert {"elo", "low", "high", "deviation"} <= set(table.columns)
    games = pandas.DataFrame(report["results"])
    assert set(games["first"]) | set(games["second"]) == {"random", "greedy"}
    assert games[["wins", "draws", "losses"]].sum().sum() == 8
    assert set(games["variant"]) == {"sacred_hill_l1"}
    assert "<svg" in report.html and report.data["anchors"]
    assert report._repr_html_().startswith("<iframe srcdoc=")


def test_partners_are_compared():
    report = tara.crossplay("random", "greedy", games=8, threads=1,
                            variant="four_treasures_doubles")
    study, = report["studies"]
    assert study["worth_score"] == report.data["studies"][0]["worth"]["score"]
    assert [each["player_a"] for each in report["matches"]][:2] == [
        "A+A", "A+B"]


def test_a_game_is_reviewed_from_a_record_and_from_a_store(tmp_path):
    with tara.GameStore(tmp_path / "games.db", "w") as store:
        store.add(tara.selfplay("playouts", "high_kings_l1", 1,
                                options="sims=2"))
        record = store[0]
    options = {"player": "mcts:sims=8", "nodes": 1000}
    report = tara.review(record, **options)
    assert len(report["actions"]) == len(record)
    assert len(report["course"]) == len(record) + 1
    assert [seat["seat"] for seat in report["seats"]] == [0, 1]
    stored = tara.review(tmp_path / "games.db", number=0, **options)
    assert stored["actions"] == report["actions"]


def test_balance_is_studied_by_rules():
    report = tara.balance(variant="sacred_hill_l1", player="mcts:sims=2",
                          games=4, first_games=0,
                          option={"pie_rule": False, "compensation": 2.5})
    study, = report["studies"]
    assert study["games"] == 4 and 0 <= study["first_side_score"] <= 1


def test_a_book_is_built_and_shown(tmp_path):
    book = tmp_path / "book.db"
    report = tara.explore(book, variant="sacred_hill_l1", positions=30,
                          player="mcts:sims=4")
    assert report["actions"][0]["actions"]
    state = tara.State("sacred_hill_l1").play("D4")
    assert tara.explore(book, position=state).data["position"] == state.text


def test_a_position_is_solved():
    state = tara.State("four_treasures")
    last = []
    while not state.finished:
        last.append(state)
        state = state.play(int(state.legal()[-1]))
    state = last[-3]
    report = tara.solve(state)
    assert len(report["actions"]) == len(state.legal())
    best = report.data["best_actions"]
    sign = 1 if state.side == 0 else -1
    assert {row["action"] for row in report["actions"] if row["red_margin"]
            == report.data["red_margin"]} == set(best)
    assert all(sign * row["red_margin"] <= sign * report.data["red_margin"]
               for row in report["actions"])
    with pytest.raises(RuntimeError, match="node limit"):
        tara.solve(tara.State("four_treasures"), node_limit=100)


def test_errors_of_the_program_are_raised(tmp_path):
    with pytest.raises(ValueError, match="no_game"):
        tara.balance(variant="no_game", player="random")
    with pytest.raises(ValueError, match="--no-option"):
        tara.rate("random", no_option=1)
    with pytest.raises(RuntimeError, match="none.jsonl"):
        tara.review(tmp_path / "none.jsonl")
