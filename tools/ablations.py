#!/usr/bin/env python3
"""What each technique of learning is worth, at equal processor time.

Networks learn from nothing, each with some techniques on and the others off,
all for the same processor time; then they are rated by games against each
other (`tara rate`). There are two designs:

screening  Every run tells of every technique. Of the 16 runs of a variant 8 are
           with and 8 without a technique, and among these every other
           technique is on as often as off: its effect is the difference of the
           mean ratings. Every second variant has the opposite levels in all
           runs, so that effects of pairs of techniques, which no design of 16
           runs tells from those of single ones, cancel in the mean of both.
           Intervals are Student's, from what the effects leave unexplained:
           the chance of learning, that of games, and what differs between
           variants.
single     The default techniques against those with one changed, a run each.
           Two runs of one config differ, by some 45 Elo after a few minutes;
           intervals are of the games alone and do not hold that.

The runs stay where they are: started again, the program goes on with what is
there. Sources: Plackett and Burman 1946; Box, Hunter and Hunter, Statistics for
Experimenters, on two-level fractional designs and their foldover.
"""

import argparse
import concurrent.futures
import json
import math
import pathlib
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).absolute().parent.parent
BASE = ROOT / "configs" / "sacred_hill_l1_10min.textproto"

# Exit status of tara when it was interrupted.
INTERRUPTED = 130

# --- What is changed ---------------------------------------------------------

# What each technique is; in the order of the design's columns.
TECHNIQUES = {
    "gumbel": "Gumbel roots, else PUCT with noise and temperature",
    "graph": "positions reached in different orders are one",
    "solver": "endgames of up to 8 hills are solved",
    "end_when_proved": "no searches after the proof",
    "openings": "half of the games begin with random actions",
    "simulations": "64 simulations, else 32",
    "playout_cap": "a quarter of the searches twice as large, the others half",
    "steps": "200 steps for 250 games, else 100",
    "ema": "averaged weights play",
    "owner": "the owner of each hill is learned",
    "kingdoms": "both sides' kingdoms are learned",
    "reply": "the opponent's reply is learned",
    "value_search": "half of the values from searches",
    "surprise": "surprising positions are drawn more often",
    "window_growth": "the window grows",
}
DEFAULT_TECHNIQUES = frozenset({"gumbel", "graph", "openings", "ema", "owner"})


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
        "self_play.end_when_proved": when("end_when_proved", "true", "false"),
        "self_play.opening.share": when("openings", 0.5, 0),
        "self_play.opening.max_plies": 10,
        "learner.steps_per_generation": when("steps", 200, 100),
        "learner.ema_decay": when("ema", 0.995, 0),
        "learner.owner_loss_weight": when("owner", 0.5, 0),
        "learner.kingdoms_loss_weight": when("kingdoms", 0.2, 0),
        "learner.reply_loss_weight": when("reply", 0.15, 0),
        "learner.value_search_share": when("value_search", 0.5, 0),
        "learner.policy_surprise": when("surprise", 0.5, 0),
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


def single_levels():
    """Returns the default techniques, then those with each one changed."""
    return [DEFAULT_TECHNIQUES] + [
        DEFAULT_TECHNIQUES ^ {technique} for technique in TECHNIQUES
    ]


# --- Statistics --------------------------------------------------------------


def effect(levels, ratings, technique):
    """Mean rating of the runs with the technique minus that of the others."""
    rated = list(zip(levels, ratings))
    return (statistics.fmean(rating for on, rating in rated if technique in on)
            - statistics.fmean(
                rating for on, rating in rated if technique not in on))


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


class Ablations:
    """The runs of a design in all variants."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = pathlib.Path(arguments.folder) / arguments.design
        self.levels = [
            screening_levels(i)
            if arguments.design == "screening" else single_levels()
            for i in range(len(arguments.variant))
        ]
        self.stopped = threading.Event()  # begin no further run

    def run_folder(self, variant, run):
        return self.folder / variant / f"run_{run:02}"

    def generations(self, variant, run):
        """Returns how many generations the run has made."""
        latest = self.run_folder(variant, run) / "checkpoints" / "latest"
        name = latest.read_text(encoding="utf-8").strip()
        return int(name.removeprefix("ckpt-").removesuffix(".pt"))

    def train(self, variant, run, on):
        """Learns one network, or goes on with it."""
        folder = self.run_folder(variant, run)
        # What is over need not be begun again.
        done = folder.with_suffix(".done")
        if done.exists():
            return
        if self.stopped.is_set():
            raise KeyboardInterrupt
        fields = {
            "variant": variant,
            "run_dir": folder,
            "seed": self.arguments.seed + run,
            "minutes": 0,
            "cpu_minutes": self.arguments.cpu_minutes,
            "generations": 1000,
            "self_play.threads": 1,
            "learner.threads": 1,
            "evaluation.opponent": "random",
            "evaluation.final_games": 2,
            **settings(on),
        }
        flags = [f"--set={name}={value}" for name, value in fields.items()]
        flags += [f"--set={field}" for field in self.arguments.set]
        folder.parent.mkdir(parents=True, exist_ok=True)
        log = folder.with_suffix(".log")
        with open(log, "w", encoding="utf-8") as output:
            status = run_tara([self.arguments.tara, "train", BASE, *flags],
                              stdout=output,
                              stderr=subprocess.STDOUT).returncode
        if status != 0:
            last = log.read_text(encoding="utf-8").splitlines()[-1:]
            raise Failure(f"{folder}: training ended with status {status}: "
                          f"{' '.join(last)}")
        done.touch()

    def train_all(self):
        """Learns all networks, in an order that levels have no part in."""
        jobs = [(variant, run, on)
                for variant, levels in zip(self.arguments.variant, self.levels)
                for run, on in enumerate(levels)]
        # Steps of 5/8 of the jobs, or some more, come by each of them.
        step = next(step for step in range(len(jobs) * 5 // 8, 2 * len(jobs))
                    if math.gcd(step, len(jobs)) == 1)
        jobs = [jobs[i * step % len(jobs)] for i in range(len(jobs))]
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(
                self.arguments.jobs) as executor:
            futures = [executor.submit(self.train, *job) for job in jobs]
            try:
                for count, future in enumerate(
                        concurrent.futures.as_completed(futures), start=1):
                    future.result()
                    minutes = (time.monotonic() - start) / 60
                    left = minutes / count * (len(jobs) - count)
                    print(f"{count} of {len(jobs)} networks in {minutes:.0f} "
                          f"min, {left:.0f} min left", file=sys.stderr)
            except BaseException:
                self.stopped.set()
                raise

    def rate(self, variant, num_runs):
        """Returns (Elo, half of its interval) of each run, the first at 0."""
        players = [
            f"net:{self.run_folder(variant, run)},"
            f"sims={self.arguments.simulations}" for run in range(num_runs)
        ]
        result = run_tara(
            [self.arguments.tara, "rate", *players, "--variant", variant,
             "--games", self.arguments.games, "--opening-plies", 6,
             "--store", self.folder / variant / "ratings.db", "--format=json"],
            stdout=subprocess.PIPE)
        if result.returncode != 0:
            raise Failure(f"{variant}: rating ended with status "
                          f"{result.returncode}")
        ratings = [player["overall"]
                   for player in json.loads(result.stdout)["players"]]
        return [(rating["elo"], rating["high"] - rating["elo"])
                for rating in ratings]


# --- Reports -----------------------------------------------------------------


def interval(value, half_width):
    return (f"{value:+.0f} [{value - half_width:+.0f}, "
            f"{value + half_width:+.0f}]")


def print_table(headings, rows):
    print("| " + " | ".join(headings) + " |")
    print("|---|" + "---:|" * (len(headings) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def report_screening(ablations, ratings):
    variants = ablations.arguments.variant
    elo = [[rating for rating, _ in rated] for rated in ratings]
    effects, half_width, deviation = fit_screening(ablations.levels, elo)
    rows = []
    for technique, value in sorted(effects.items(), key=lambda item: -item[1]):
        rows.append(
            [f"`{technique}`: {TECHNIQUES[technique]}",
             interval(value, half_width)] + [
                 f"{effect(on, rated, technique):+.0f}"
                 for on, rated in zip(ablations.levels, elo)
             ])
    print_table(["technique", "Elo"] + [f"`{variant}`" for variant in variants],
                rows)
    print(f"\nA run's deviation from what the effects say: {deviation:.0f} Elo")


def report_single(ablations, ratings):
    for variant, levels, rated in zip(ablations.arguments.variant,
                                      ablations.levels, ratings):
        rows = []
        for run, (on, (elo, half_width)) in enumerate(zip(levels, rated)):
            changed = on ^ DEFAULT_TECHNIQUES
            name = "the default techniques"
            if changed:
                [technique] = changed
                name = (f"{'with' if technique in on else 'without'} "
                        f"`{technique}`: {TECHNIQUES[technique]}")
            rows.append([name, str(ablations.generations(variant, run)),
                         interval(elo, half_width) if changed else "0"])
        print_table([f"`{variant}`", "generations", "Elo"], rows)
        print()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variant", nargs="+",
                        help="variants; of a screening two, four, ...")
    parser.add_argument("--design", choices=("screening", "single"),
                        default="screening")
    parser.add_argument("--cpu-minutes", type=float, default=5, metavar="M",
                        help="processor time of each network (5)")
    parser.add_argument("--games", type=int, default=200, metavar="N",
                        help="games of each network, on average (200)")
    parser.add_argument("--simulations", type=int, default=100, metavar="N",
                        help="an action, in these games (100)")
    parser.add_argument("--jobs", type=int, default=2, metavar="N",
                        help="networks that learn side by side (2)")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the first run; the others follow (1)")
    parser.add_argument("--set", action="append", default=[],
                        metavar="FIELD=VALUE",
                        help="a field of all runs' configs; several")
    parser.add_argument("--folder", default="runs/ablations", metavar="FOLDER",
                        help="of the runs (runs/ablations)")
    parser.add_argument("--tara", default=ROOT / "bin" / "tara",
                        metavar="PROGRAM", help="another program than bin/tara")
    arguments = parser.parse_args()
    if len(set(arguments.variant)) < len(arguments.variant):
        parser.error("a variant is named twice")
    if arguments.design == "screening" and len(arguments.variant) % 2 != 0:
        parser.error("a screening takes an even number of variants, as every "
                     f"second has the opposite levels; got "
                     f"{len(arguments.variant)}")
    ablations = Ablations(arguments)
    try:
        ablations.train_all()
        ratings = [
            ablations.rate(variant, len(levels))
            for variant, levels in zip(arguments.variant, ablations.levels)
        ]
    except KeyboardInterrupt:
        print("ablations: interrupted; the same command goes on",
              file=sys.stderr)
        return INTERRUPTED
    except Failure as failure:
        print(f"ablations: {failure}", file=sys.stderr)
        return 1
    if arguments.design == "screening":
        report_screening(ablations, ratings)
    else:
        report_single(ablations, ratings)
    return 0


if __name__ == "__main__":
    sys.exit(main())
