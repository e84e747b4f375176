"""The designs of tools/ablations.py, and what is made of their ratings."""

import itertools
import random
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
        runs = ablations.single_levels()
        base = ablations.settings(runs[0])
        self.assertEqual(len(runs), 1 + len(ablations.TECHNIQUES))
        for on in runs[1:]:
            self.assertNotEqual(ablations.settings(on), base)
            self.assertEqual(ablations.settings(on).keys(), base.keys())


class StudentTest(unittest.TestCase):

    def test_quantiles_are_those_of_the_tables(self):
        for degrees, quantile in ((1, 12.706), (3, 3.182), (15, 2.131),
                                  (47, 2.012)):
            self.assertAlmostEqual(
                ablations.student_quantile(0.975, degrees), quantile, places=3)


if __name__ == "__main__":
    unittest.main()
