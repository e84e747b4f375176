#!/usr/bin/env python3
"""Measures the effect of techniques of training, at equal processor time.

Networks are trained for the same processor time, each with some techniques on
and the others off. Games between them then rate them. There are two designs:

screening  Many techniques at once, with low precision. Every run counts for
           every technique. Of the 16 runs of a variant, 8 have the technique
           on and 8 have it off; within each half, every other technique is on
           as often as off. The effect is the difference of the mean ratings.
           Every second variant has the opposite levels in all runs. Effects of
           pairs of techniques, which no design of 16 runs can separate from
           single ones, therefore cancel in the mean of two variants. Intervals
           are Student's, from the residuals of the effects: the randomness of
           training and of games, and differences between variants.
pairs      One change of a config, with any precision. Each pair of runs shares
           a seed; the two train in parallel, one without and one with the
           change, and play a match. The estimate is the mean score of the
           matches, with equal weights of the variants and Student's interval
           over the pairs. It covers the randomness of training and of games,
           but not the effect in other variants. The number of pairs is fixed
           in advance; the program prints the expected interval. A test of the
           next change reuses the runs without the change.

The runs are kept, and the same command resumes. Sources: Plackett and Burman
1946; Box, Hunter and Hunter, Statistics for Experimenters, on two-level
fractional designs and their foldover.
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).absolute().parent.parent
BASE = ROOT / "configs" / "variant_10min.textproto"

# Standard deviation, in Elo, between two runs of a config with different seeds
# after a few minutes (docs/lab/2026-11-learning.md); only for planning.
EXPECTED_DEVIATION = 45

# Exit status of tara when it was interrupted.
INTERRUPTED = 130

# --- What is changed ---------------------------------------------------------

# Descriptions of the techniques, in the order of the design's columns.
TECHNIQUES = {
    "gumbel": "Gumbel roots, else PUCT with noise and temperature",
    "graph": "positions reached in different orders are one",
    "solver": "endgames of up to 8 hills are solved",
    "openings": "half of the games begin with random actions",
    "simulations": "64 simulations, else 32",
    "playout_cap": "a quarter of the searches twice as large, the others half",
    "steps": "200 steps for 250 games, else 100",
    "ema": "averaged weights play",
    "owner": "the owner of each hill is learned",
    "kingdoms": "both sides' kingdoms are learned",
    "reply": "the opponent's reply is learned",
    "value_search": "half of the values from searches",
    "window_growth": "the window grows",
}


def settings(on):
    """Returns the fields of the config for a run with these techniques on."""

    def when(technique, value, otherwise):
        return value if technique in on else otherwise

    options = ["proof=on"]
    options += when("gumbel", ["gumbel=on"], [])
    options += when("graph", ["graph=on"], [])
    options += when("solver", ["solver_hills=8"], [])
    simulations = when("simulations", 64, 32)
    return {
        "self_play.games_per_generation": 250,
        "self_play.search.option": ",".join(options),
        "self_play.search.simulations":
            when("playout_cap", 2, 1) * simulations,
        "self_play.playout_cap.full_share": when("playout_cap", 0.25, 1),
        "self_play.playout_cap.fast_simulations": simulations // 2,
        "self_play.opening.share": when("openings", 0.5, 0),
        "self_play.opening.max_plies": 10,
        "learner.steps_per_generation": when("steps", 200, 100),
        "learner.ema_decay": when("ema", 0.995, 0),
        "learner.owner_loss_weight": when("owner", 0.5, 0),
        "learner.kingdoms_loss_weight": when("kingdoms", 0.2, 0),
        "learner.reply_loss_weight": when("reply", 0.15, 0),
        "learner.value_search_share": when("value_search", 0.5, 0),
        "learner.window_games": 8000,
        "learner.window_growth": when("window_growth", 0.75, 0),
        "learner.window_min_games": 2000,
    }


# --- Designs -----------------------------------------------------------------

SCREENING_RUNS = 16


def screening_levels(variant_index):
    """Returns the techniques that are on, for each run of the variant.

    Technique c (from 1) is on in run r where the entry (r, c) of Sylvester's
    Hadamard matrix is 1, in odd variants where it is -1.
    """
    return [
        frozenset(
            technique for column, technique in enumerate(TECHNIQUES, start=1)
            if bin(run & column).count("1") % 2 == variant_index % 2)
        for run in range(SCREENING_RUNS)
    ]


# --- Statistics --------------------------------------------------------------


def effect(levels, ratings, technique):
    """Mean rating of the runs with the technique minus that of the others."""
    rated = list(zip(levels, ratings))
    return (statistics.fmean(rating for on, rating in rated if technique in on)
            - statistics.fmean(
                rating for on, rating in rated if technique not in on))


@functools.cache
def student_quantile(probability, degrees):
    """Returns the quantile of Student's distribution, for probability >= 1/2.

    By bisection of the distribution: with t = sqrt(degrees) tan(a) its density
    is in proportion to cos(a)^(degrees - 1), summed here by Simpson's rule.
    """
    scale = math.exp(
        math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)
    ) / math.sqrt(math.pi)

    def above_median(angle, intervals=200):
        width = angle / intervals
        total = sum(
            (1 if i in (0, intervals) else 4 if i % 2 else 2) *
            math.cos(i * width)**(degrees - 1) for i in range(intervals + 1))
        return scale * total * width / 3

    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if above_median(middle) < probability - 0.5:
            low = middle
        else:
            high = middle
    return math.sqrt(degrees) * math.tan(low)


def fit_screening(levels, ratings):
    """Fits a mean for each variant, and effects that are the same in all.

    levels, ratings: by variant, lists by run. Returns the effects by technique,
    half of the width of their 95 % intervals, and the residual deviation of a
    run. Columns are orthogonal, so that least squares are differences of means.
    """
    effects = {
        technique: statistics.fmean(
            effect(on, rated, technique) for on, rated in zip(levels, ratings))
        for technique in TECHNIQUES
    }
    squares = 0.0
    for on_of_runs, rated in zip(levels, ratings):
        mean = statistics.fmean(rated)
        for on, rating in zip(on_of_runs, rated):
            fitted = mean + sum((0.5 if technique in on else -0.5) * value
                                for technique, value in effects.items())
            squares += (rating - fitted)**2
    runs = sum(len(rated) for rated in ratings)
    degrees = runs - len(levels) - len(effects)
    deviation = math.sqrt(squares / degrees)
    half_width = (student_quantile(0.975, degrees) * 2 * deviation /
                  math.sqrt(runs))
    return effects, half_width, deviation


def elo(score):
    """Returns the difference in Elo at which the score is expected."""
    if score <= 0 or score >= 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score))


def pooled_mean(groups):
    """The mean of the groups' means, and half of the width of its interval.

    groups: lists of at least two numbers each. All groups have the same variance;
    their means may differ. Student's interval at 95 %.
    """
    mean = statistics.fmean(statistics.fmean(group) for group in groups)
    degrees = sum(len(group) - 1 for group in groups)
    variance = sum(statistics.variance(group) * (len(group) - 1)
                   for group in groups) / degrees
    error = math.sqrt(variance * sum(1 / len(group) for group in groups))
    return mean, student_quantile(0.975, degrees) * error / len(groups)


def expected_half_width(variants, pairs, games):
    """Half of the width in Elo that an interval of `pooled_mean` will have.

    variants, pairs of each, games of each pair. Games of a pair deviate by half
    a point each, some more than those of equals with draws do.
    """
    of_games = (elo(0.51) - elo(0.49)) / 0.02 * 0.5 / math.sqrt(games)
    deviation = math.hypot(math.sqrt(2) * EXPECTED_DEVIATION, of_games)
    return (student_quantile(0.975, variants * (pairs - 1)) * deviation /
            math.sqrt(variants * pairs))


# --- Runs --------------------------------------------------------------------


class Failure(Exception):
    """What went wrong, for the user."""


def run_tara(arguments, **options):
    """Runs tara and returns its result. Raises when it was interrupted."""
    result = subprocess.run([str(argument) for argument in arguments],
                            stdin=subprocess.DEVNULL, check=False, **options)
    if result.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    return result


@dataclasses.dataclass
class Run:
    """A network that learns: a config, and what is set in it."""

    config: pathlib.Path
    fields: dict

    @property
    def folder(self):
        return self.fields["run_dir"]

    def sibling(self, suffix):
        """Returns the file next to the folder, whose name may have dots."""
        return self.folder.with_name(self.folder.name + suffix)


class Learning:
    """Runs of networks for the same processor time."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.stopped = threading.Event()  # begin no further run

    def run(self, folder, variant, seed, config, fields):
        """Returns the run with these fields and those of all runs."""
        return Run(
            config, {
                "variant": variant,
                "run_dir": folder,
                "seed": seed,
                "minutes": 0,
                "cpu_minutes": self.arguments.cpu_minutes,
                "generations": 1000,
                "self_play.threads": 1,
                "learner.threads": 1,
                "evaluation.every": 0,
                "evaluation.opponent": "random",
                "evaluation.final_games": 2,
                **fields,
            })

    def train(self, run):
        """Trains one network, or resumes it."""
        flags = [f"--set={name}={value}" for name, value in run.fields.items()]
        flags += [f"--set={field}" for field in self.arguments.set]
        # The config that the run began with, to detect folders of another
        # study.
        asked = "\n".join([run.config.read_text(encoding="utf-8"), *flags])
        told = run.sibling(".asked")
        if not run.folder.exists():
            run.folder.parent.mkdir(parents=True, exist_ok=True)
            told.write_text(asked, encoding="utf-8")
        elif (not told.exists() or
              told.read_text(encoding="utf-8") != asked):
            raise Failure(f"{run.folder}: was begun with another config or "
                          "other fields; expected the same, or another "
                          "--folder")
        # Finished runs are skipped.
        done = run.sibling(".done")
        if done.exists():
            return
        if self.stopped.is_set():
            raise KeyboardInterrupt
        log = run.sibling(".log")
        with open(log, "w", encoding="utf-8") as output:
            status = run_tara(
                [self.arguments.tara, "train", run.config, *flags],
                stdout=output, stderr=subprocess.STDOUT).returncode
        if status != 0:
            last = log.read_text(encoding="utf-8").splitlines()[-1:]
            raise Failure(f"{run.folder}: training ended with status {status}: "
                          f"{' '.join(last)}")
        done.touch()

    def train_all(self, runs):
        """Learns all networks, begun in this order."""
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(
                self.arguments.jobs) as executor:
            futures = [executor.submit(self.train, run) for run in runs]
            try:
                for count, future in enumerate(
                        concurrent.futures.as_completed(futures), start=1):
                    future.result()
                    minutes = (time.monotonic() - start) / 60
                    left = minutes / count * (len(runs) - count)
                    print(f"{count} of {len(runs)} networks in {minutes:.0f} "
                          f"min, {left:.0f} min left", file=sys.stderr)
            except BaseException:
                self.stopped.set()
                raise

    def play(self, command, runs, variant, store, seed):
        """Returns what `rate` or `arena` say of games between the runs."""
        players = [
            f"net:{run.folder},sims={self.arguments.simulations}"
            for run in runs
        ]
        result = run_tara(
            [self.arguments.tara, command, *players, "--variant", variant,
             "--games", self.arguments.games, "--opening-plies", 6, "--seed",
             seed, "--store", store, "--format=json"], stdout=subprocess.PIPE)
        if result.returncode != 0:
            raise Failure(f"{variant}: {command} ended with status "
                          f"{result.returncode}")
        return json.loads(result.stdout)


def screen(arguments):
    """The design 'screening', from the runs to the report."""
    learning = Learning(arguments)
    levels = [screening_levels(i) for i in range(len(arguments.variant))]
    runs = []  # by variant
    for variant, levels_of_runs in zip(arguments.variant, levels):
        folder = pathlib.Path(arguments.folder) / "screening" / variant
        runs.append([
            learning.run(folder / f"run_{run:02}", variant,
                         arguments.seed + run, BASE, settings(on))
            for run, on in enumerate(levels_of_runs)
        ])
    # The order does not depend on the levels: steps of about 5/8 of the number
    # of runs visit each run once.
    all_runs = sum(runs, [])
    step = next(step for step in range(len(all_runs) * 5 // 8,
                                       2 * len(all_runs))
                if math.gcd(step, len(all_runs)) == 1)
    learning.train_all([all_runs[i * step % len(all_runs)]
                        for i in range(len(all_runs))])
    ratings = []
    for variant, of_variant in zip(arguments.variant, runs):
        store = of_variant[0].folder.parent / "ratings.db"
        rated = learning.play("rate", of_variant, variant, store,
                              arguments.seed)
        ratings.append([player["overall"]["elo"]
                        for player in rated["players"]])
    report_screening(arguments.variant, levels, ratings)


def compare_pairs(arguments):
    """The design 'pairs', from the plan to the report."""
    learning = Learning(arguments)
    changed = dict(change.split("=", 1) for change in arguments.change)
    # Name of a folder, within a player's text, where commas separate options.
    name = re.sub(r"[^\w.=+-]", "_", "+".join(arguments.change))
    half_width = expected_half_width(
        len(arguments.variant), arguments.pairs, arguments.games)
    print(f"{len(arguments.variant) * arguments.pairs} pairs of runs: an "
          f"interval of some {half_width:.0f} Elo to either side, if runs "
          f"differ by {EXPECTED_DEVIATION} by their seeds", file=sys.stderr)
    # With and without, by variant, so that an invalid change fails early.
    pairs = []
    for variant in arguments.variant:
        folder = pathlib.Path(arguments.folder) / "pairs" / variant
        pairs.append([[
            learning.run(folder / f"seed_{seed}" / run, variant, seed,
                         arguments.config, fields)
            for run, fields in ((name, changed), ("without", {}))
        ] for seed in range(arguments.seed, arguments.seed + arguments.pairs)])
    learning.train_all([run for of_variant in pairs for pair in of_variant
                        for run in pair])
    scores = []
    for variant, of_variant in zip(arguments.variant, pairs):
        scores.append([])
        for pair in of_variant:
            # Each pair has its own openings, so the interval includes their
            # randomness.
            [match] = learning.play("arena", pair, variant,
                                    pair[0].sibling(".db"),
                                    pair[0].fields["seed"])
            scores[-1].append(match["score"])
    report_pairs(arguments, scores)


# --- Reports -----------------------------------------------------------------


def interval(value, half_width):
    return (f"{value:+.0f} [{value - half_width:+.0f}, "
            f"{value + half_width:+.0f}]")


def print_table(headings, rows):
    print("| " + " | ".join(headings) + " |")
    print("|---|" + "---:|" * (len(headings) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def report_screening(variants, levels, ratings):
    effects, half_width, deviation = fit_screening(levels, ratings)
    rows = []
    for technique, value in sorted(effects.items(), key=lambda item: -item[1]):
        rows.append(
            [f"`{technique}`: {TECHNIQUES[technique]}",
             interval(value, half_width)] + [
                 f"{effect(on, rated, technique):+.0f}"
                 for on, rated in zip(levels, ratings)
             ])
    print_table(["technique", "Elo"] + [f"`{variant}`" for variant in variants],
                rows)
    print(f"\nA run's deviation from what the effects say: {deviation:.0f} Elo")


def report_pairs(arguments, scores):
    names = [f"`{variant}`" for variant in arguments.variant]
    groups = [[of_variant] for of_variant in scores]
    if len(names) > 1:
        names.append("all")
        groups.append(scores)
    rows = []
    for row, of_row in zip(names, groups):
        mean, half_width = pooled_mean(of_row)
        low, high = mean - half_width, mean + half_width
        rows.append([
            row, str(sum(len(group) for group in of_row)),
            f"{100 * mean:.1f} [{100 * max(low, 0):.1f}, "
            f"{100 * min(high, 1):.1f}]",
            f"{elo(mean):+.0f} [{elo(low):+.0f}, {elo(high):+.0f}]"
        ])
    print_table([f"with `{' '.join(arguments.change)}`", "pairs",
                 "score % against without", "Elo"], rows)
    mean, half_width = pooled_mean(scores)
    wide = (elo(mean + half_width) - elo(mean - half_width)) / 2
    if math.isfinite(wide):
        count = sum(len(group) for group in scores)
        print(f"\nAn interval of 20 Elo to either side takes some "
              f"{math.ceil(count * (wide / 20)**2)} pairs, by how much "
              f"these differ.")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", nargs="+",
                        help="variants; an even number for a screening")
    parser.add_argument("--design", choices=("screening", "pairs"),
                        default="screening")
    parser.add_argument("--change", action="append", default=[],
                        metavar="FIELD=VALUE",
                        help="pairs: field with another value in the second run "
                        "of a pair; repeat it for several fields of one change")
    parser.add_argument("--config", type=pathlib.Path, default=BASE,
                        metavar="FILE",
                        help="pairs: the config to change "
                        f"(configs/{BASE.name})")
    parser.add_argument("--pairs", type=int, default=10, metavar="N",
                        help="pairs: number of pairs per variant, at least 2 "
                        "(10)")
    parser.add_argument("--cpu-minutes", type=float, default=5, metavar="M",
                        help="processor time of each network (5)")
    parser.add_argument("--games", type=int, default=200, metavar="N",
                        help="games per pair, or mean games per network of a "
                        "screening (200)")
    parser.add_argument("--simulations", type=int, default=100, metavar="N",
                        help="simulations per action in these games (100)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N",
                        help="networks to train in parallel (2)")
    parser.add_argument("--seed", type=int, default=1,
                        help="seed of the first run or pair; the others count "
                        "up from it (1)")
    parser.add_argument("--set", action="append", default=[],
                        metavar="FIELD=VALUE",
                        help="field of the configs of all runs; repeatable")
    parser.add_argument("--folder", default="runs/ablations", metavar="FOLDER",
                        help="folder of the runs (runs/ablations)")
    parser.add_argument("--tara", default=ROOT / "bin" / "tara",
                        metavar="PROGRAM",
                        help="program to run instead of bin/tara")
    arguments = parser.parse_args()
    if len(set(arguments.variant)) < len(arguments.variant):
        parser.error("a variant is given twice")
    if arguments.design == "screening":
        if len(arguments.variant) % 2 != 0:
            parser.error("a screening takes an even number of variants, as "
                         "every second has the opposite levels; got "
                         f"{len(arguments.variant)}")
        if arguments.change:
            parser.error("--change: expected --design pairs")
    else:
        if not arguments.change:
            parser.error("pairs take a --change FIELD=VALUE at least")
        for change in arguments.change:
            field, equals, _ = change.partition("=")
            if not equals:
                parser.error(f"--change {change}: expected FIELD=VALUE")
            if any(text.startswith(f"{field}=") for text in arguments.set):
                parser.error(f"{field}: expected in --change or in --set, not "
                             "in both")
        if arguments.pairs < 2:
            parser.error(f"--pairs {arguments.pairs}: expected 2 at least, as "
                         "the interval is from what they differ by")
        if not arguments.config.is_file():
            parser.error(f"--config {arguments.config}: no such file")
    try:
        (screen if arguments.design == "screening" else
         compare_pairs)(arguments)
    except KeyboardInterrupt:
        print("ablations: interrupted; the same command resumes",
              file=sys.stderr)
        return INTERRUPTED
    except Failure as failure:
        print(f"ablations: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
