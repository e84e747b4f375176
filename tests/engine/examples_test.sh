#!/usr/bin/env bash
# The programs of examples/: clients of the real engine in Python, and C++.
set -euo pipefail

engine="tara/cli/tara engine --search sims=8"

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# expect_match TEXT PATTERN: TEXT has a line that PATTERN (grep -E) matches.
expect_match() {
  grep -qE "$2" <<<"$1" || fail "no line matches '$2' in: $1"
}

# A whole game: the score is the last line, the result in full before it.
for variant in sacred_hill_doubles_l1 stone_of_destiny; do
  game="$(python3 examples/play_game.py --variant "${variant}" \
    --red "${engine}" --blue "${engine}")"
  expect_match "$(tail -n 1 <<<"${game}")" '^(Red\+|Blue\+)?[0-9]+$'
  expect_match "${game}" '^points [0-9]+,[0-9]+ kingdoms .* ended_by [a-z_]+$'
done
expect_match "${game}" '^Red: [A-G][1-7]=[A-G][1-7]$'

# What the engine refuses is told.
if told="$(python3 examples/play_game.py --variant chess \
  --red "${engine}" --blue "${engine}" 2>&1)"; then
  fail "a game of chess was played"
fi
expect_match "${told}" "^play_game: variant chess: unknown variant 'chess'"

# A game as `tara games export` writes it, analysed to its end.
analysis="$(head -n 1 tests/golden/sacred_hill_l1.jsonl |
  python3 examples/analyse_game.py --engine "${engine} --json" \
    --simulations 8 --game -)"
expect_match "${analysis}" '^ +0  red   value [+-][0-9.]+ .* played [A-G][1-7]'
expect_match "${analysis}" '^ +[0-9]+  the end: [0-9]+ to [0-9]+ points$'

if told="$(python3 examples/analyse_game.py --engine "${engine} --json" \
  D4 D4 2>&1)"; then
  fail "an illegal action was analysed"
fi
expect_match "${told}" '^analyse_game: actions\[1\]: illegal action D4'

# The program in C++.
game="$(examples/self_play stone_of_destiny 20)"
expect_match "${game}" '^Red [A-G][1-7]=?[A-G1-7]*  expects -?[0-9.e-]+ points more$'
expect_match "$(tail -n 1 <<<"${game}")" '^Red [0-9]+, Blue [0-9]+$'
if told="$(examples/self_play chess 20 2>&1)"; then
  fail "a game of chess was played"
fi
expect_match "${told}" "unknown variant 'chess'"

echo PASSED
