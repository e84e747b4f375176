"""Shows statistics of the games of a run, or of `tara selfplay`, with polars.

    python examples/python/look_at_games.py runs/quickstart-sacred_hill_l1
"""

import argparse

import polars
import tara


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("store", help="folder of a run, or a store of games")
    arguments = parser.parse_args()
    with tara.GameStore(arguments.store) as store:
        games = polars.DataFrame(store)
        plies = polars.DataFrame(store.arrow("plies", newest=2000))
    print("By variant and generation: Red's score, actions per game")
    red = polars.col("winner").replace_strict(
        {0: 1.0, 1: 0.0}, default=0.5, return_dtype=polars.Float64)
    print(games.group_by("variant", "generation").agg(
        polars.len().alias("games"), red.mean().alias("red"),
        polars.col("length").mean()).sort("variant", "generation"))
    print("By phase: number of legal actions, change of the policy by searches "
          "(nats)")
    print(plies.filter("chosen").group_by("phase").agg(
        polars.len().alias("plies"), polars.col("legal").mean(),
        polars.col("surprise").mean()).sort("phase"))
    print("The most frequent first actions")
    print(plies.filter(polars.col("ply") == 0).group_by("text").agg(
        polars.len().alias("games")).sort("games", "text",
                                          descending=[True, False]).head(5))


if __name__ == "__main__":
    main()
