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
    --set network.channels=8 --set network.blocks=1 \
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
[[ "$(grep -cE "${INTERVAL}" <<<"${report}")" == 15 ]] ||
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

report="$(ablations --design single four_treasures)"
expect_line "${report}" '^\| the default techniques \| 1 \| 0 \|$'
expect_line "${report}" "^\\| without \`gumbel\`: .* \\| 1 \\| ${INTERVAL} \\|$"
expect_line "${report}" "^\\| with \`reply\`: .* \\| 1 \\| ${INTERVAL} \\|$"

if told="$(ablations high_kings_l1 2>&1)"; then
  fail "a screening of one variant"
fi
expect_line "${told}" 'takes an even number of variants'
if told="$(ablations chess four_treasures 2>&1)"; then
  fail "chess was learned"
fi
expect_line "${told}" "^ablations: .*training ended with status .*'chess'"

echo PASSED
