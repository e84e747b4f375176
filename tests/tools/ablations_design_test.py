"""The designs of tools/ablations.py, and what is made of their ratings."""

import itertools
import random
import statistics
import unittest

import ablations


def pair_of_variants():
    return [ablations.screening_levels(0), ablations.screening_levels(1)]


class ScreeningTest(unittest.TestCase):

    def test_each_technique_is_on_in_half_of_the_runs(self):
        for levels in pair_of_variants():
            for technique in ablations.TECHNIQUES:
                self.assertEqual(sum(technique in on for on in levels), 8)

    def test_with_and_without_a_technique_every_other_is_on_as_often(self):
        for levels in pair_of_variants():
            for one, other in itertools.permutations(ablations.TECHNIQUES, 2):
                self.assertEqual(
                    sum(one in on and other in on for on in levels), 4)

    def test_the_second_variant_has_the_opposite_levels(self):
        for first, second in zip(*pair_of_variants()):
            self.assertEqual(second, ablations.TECHNIQUES.keys() - first)

    def test_exact_effects_are_found_exactly(self):
        levels = pair_of_variants()
        truth = {name: 10.0 * i - 30
                 for i, name in enumerate(ablations.TECHNIQUES)}
        ratings = [[offset + sum(truth[name] for name in on) for on in runs]
                   for offset, runs in zip((5, -100), levels)]
        effects, half_width, deviation = ablations.fit_screening(
            levels, ratings)
        for name, value in truth.items():
            self.assertAlmostEqual(effects[name], value)
        self.assertAlmostEqual(half_width, 0)
        self.assertAlmostEqual(deviation, 0)

    def test_what_a_pair_of_techniques_does_together_falls_on_none(self):
        levels = pair_of_variants()
        ratings = [[100.0 if {"gumbel", "steps"} <= on else 0.0 for on in runs]
                   for runs in levels]
        effects, _, _ = ablations.fit_screening(levels, ratings)
        for name, value in effects.items():
            expected = 50 if name in ("gumbel", "steps") else 0
            self.assertAlmostEqual(value, expected, msg=name)

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        rng = random.Random(1)
        levels = pair_of_variants()
        covered = trials = 0
        for _ in range(400):
            ratings = [[rng.gauss(0, 30) for _ in runs] for runs in levels]
            effects, half_width, _ = ablations.fit_screening(levels, ratings)
            trials += len(effects)
            covered += sum(abs(value) <= half_width
                           for value in effects.values())
        self.assertAlmostEqual(covered / trials, 0.95, delta=0.015)


class SettingsTest(unittest.TestCase):

    def test_every_technique_changes_the_config(self):
        none = ablations.settings(frozenset())
        for technique in ablations.TECHNIQUES:
            changed = ablations.settings(frozenset({technique}))
            self.assertNotEqual(changed, none)
            self.assertEqual(changed.keys(), none.keys())


class PairsTest(unittest.TestCase):

    def test_elo_of_a_score(self):
        self.assertAlmostEqual(ablations.elo(0.5), 0)
        self.assertAlmostEqual(ablations.elo(10 / 11), 400)
        self.assertAlmostEqual(ablations.elo(1 / 11), -400)
        self.assertEqual(ablations.elo(1), float("inf"))
        self.assertEqual(ablations.elo(0), float("-inf"))

    def test_one_group_has_the_interval_of_the_books(self):
        # Mean 3, deviation sqrt(2.5), Student's 2.776 of four degrees.
        mean, half_width = ablations.pooled_mean([[1, 2, 3, 4, 5]])
        self.assertAlmostEqual(mean, 3)
        self.assertAlmostEqual(half_width, 2.7764 * (2.5 / 5)**0.5, places=3)

    def test_groups_weigh_the_same_whatever_their_size(self):
        mean, half_width = ablations.pooled_mean([[1, 3], [10, 10, 10, 10]])
        self.assertAlmostEqual(mean, 6)
        # Variance 2 of one degree in four; of the mean (1/2 + 1/4) / 4 of it.
        self.assertAlmostEqual(
            half_width, 2.7764 * (2 / 4 * (1 / 2 + 1 / 4) / 4)**0.5, places=3)

    def test_intervals_hold_the_truth_as_often_as_they_say(self):
        rng = random.Random(1)
        offsets = (-40, 0, 25)  # what the change does in each variant
        covered = 0
        trials = 3000
        for _ in range(trials):
            groups = [[rng.gauss(offset, 65) for _ in range(4)]
                      for offset in offsets]
            mean, half_width = ablations.pooled_mean(groups)
            covered += abs(mean - sum(offsets) / 3) <= half_width
        self.assertAlmostEqual(covered / trials, 0.95, delta=0.012)

    def test_the_plan_is_what_such_pairs_give(self):
        rng = random.Random(1)
        planned = ablations.expected_half_width(2, 20, 200)
        # 24.6 Elo: half a point a game, 695 Elo a point, of 200 games.
        deviation = (2 * 45**2 + 24.6**2)**0.5
        widths = []
        for _ in range(200):
            groups = [[rng.gauss(0, deviation) for _ in range(20)]
                      for _ in range(2)]
            widths.append(ablations.pooled_mean(groups)[1])
        self.assertAlmostEqual(statistics.fmean(widths) / planned, 1,
                               delta=0.03)
        self.assertLess(
            ablations.expected_half_width(2, 25, 200), planned)


class StudentTest(unittest.TestCase):

    def test_quantiles_are_those_of_the_tables(self):
        for degrees, quantile in ((1, 12.706), (3, 3.182), (15, 2.131),
                                  (47, 2.012)):
            self.assertAlmostEqual(
                ablations.student_quantile(0.975, degrees), quantile, places=3)


if __name__ == "__main__":
    unittest.main()
