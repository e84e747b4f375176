#!/usr/bin/env bash
# tools/ablations.py: its designs and statistics, and the whole as users start
# it, with the real program: networks that learn for one generation of a few
# games.
set -euo pipefail

readonly FOLDER="${TEST_TMPDIR}/ablations"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

expect_line() {
  grep -qE "$2" <<<"$1" || fail "no line matches '$2' in: $1"
}

ablations() {
  python3 tools/ablations.py --tara tara/cli/tara --folder "${FOLDER}" \
    --set network.kind=tower --set network.channels=8 --set network.blocks=1 \
    --set self_play.games_per_generation=8 --set learner.window_min_games=8 \
    --set self_play.search.simulations=4 \
    --set self_play.playout_cap.fast_simulations=2 --set generations=1 \
    --set learner.batch_size=8 --set learner.steps_per_generation=2 \
    --games 16 --simulations 1 "$@"
}

PYTHONPATH=tools python3 tests/tools/ablations_design_test.py

readonly INTERVAL='[+-][0-9]+ \[[+-][0-9]+, [+-][0-9]+\]'

report="$(ablations high_kings_l1 four_treasures)"
expect_line "${report}" '^\| technique \| Elo \| `high_kings_l1` \| `four_'
expect_line "${report}" "^\\| \`gumbel\`: .* \\| ${INTERVAL} \\| "
[[ "$(grep -cE "${INTERVAL}" <<<"${report}")" == 13 ]] ||
  fail "not a row for each technique: ${report}"
expect_line "${report}" '^A run.s deviation from what the effects say: [0-9]+'

# Again: nothing is learned. (A training that begins writes its log anew.)
learned() {
  find "${FOLDER}" \( -name '*.pt' -o -name '*.log' \) -printf '%p %T@\n' | sort
}
before="$(learned)"
[[ "$(ablations high_kings_l1 four_treasures)" == "${report}" ]] ||
  fail "the same command says something else"
[[ "$(learned)" == "${before}" ]] || fail "it has learned again"

# Pairs of runs, the second with another learning rate.
pairs() {
  ablations --design pairs --pairs 2 --change learner.learning_rate=0.01 "$@"
}
report="$(pairs four_treasures high_kings_l1 2>"${TEST_TMPDIR}/plan")"
grep -qE '^4 pairs of runs: an interval of some [0-9]+ Elo to either side' \
  "${TEST_TMPDIR}/plan" || fail "no plan: $(cat "${TEST_TMPDIR}/plan")"
readonly SCORE='[0-9.]+ \[[0-9.]+, [0-9.]+\] \| [+-][0-9]+ \[[+-]([0-9]+|inf), '
expect_line "${report}" '^\| with `learner.learning_rate=0.01` \| pairs \| '
expect_line "${report}" "^\\| \`four_treasures\` \\| 2 \\| ${SCORE}"
expect_line "${report}" "^\\| \`high_kings_l1\` \\| 2 \\| ${SCORE}"
expect_line "${report}" "^\\| all \\| 4 \\| ${SCORE}"

# Runs without a change serve the next one.
without() {
  find "${FOLDER}/pairs" -path '*/without*' -name '*.log' -printf '%p %T@\n' |
    sort
}
before="$(without)"
[[ "$(wc -l <<<"${before}")" == 4 ]] || fail "not 4 runs without: ${before}"
if ablations --design pairs --pairs 2 --change learner.batch_size=4 \
  four_treasures >/dev/null 2>&1; then
  fail "--set and --change of one field"
fi
ablations --design pairs --pairs 2 --change self_play.search.option=proof=on \
  --change learner.ema_decay=0.9 four_treasures >/dev/null
[[ "$(without)" == "${before}" ]] || fail "learned again without the change"

# A folder holds one study.
if told="$(pairs --cpu-minutes 3 four_treasures 2>&1)"; then
  fail "another processor time in the same folder"
fi
expect_line "${told}" '^ablations: .*: was begun with another config or'
if told="$(ablations --design pairs --change a four_treasures 2>&1)"; then
  fail "a change without a value"
fi
expect_line "${told}" 'expected FIELD=VALUE'
if told="$(ablations --design pairs four_treasures 2>&1)"; then
  fail "pairs without a change"
fi
expect_line "${told}" 'pairs take a --change'
if told="$(pairs --pairs 1 four_treasures 2>&1)"; then
  fail "one pair"
fi
expect_line "${told}" '^.*--pairs 1: expected 2 at least'

if told="$(ablations high_kings_l1 2>&1)"; then
  fail "a screening of one variant"
fi
expect_line "${told}" 'takes an even number of variants'
if told="$(ablations chess four_treasures 2>&1)"; then
  fail "chess was learned"
fi
expect_line "${told}" "^ablations: .*training ended with status .*'chess'"

echo PASSED
