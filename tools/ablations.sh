#!/usr/bin/env bash
# What each technique of learning is worth, at equal cost: trains a network with
# the base config and one with each technique changed, all for the same
# processor time from nothing, lets each play the base, and prints a table.
#
#   tools/ablations.sh [VARIANT [CPU_MINUTES [GAMES [NAME...]]]]
#
# Default: sacred_hill_l1, 5 minutes, 400 games, all techniques. The runs are
# left in runs/ablations; started again, what is there is gone on with. TARA
# names another program than bin/tara.

set -euo pipefail
ROOT="$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")"
readonly ROOT
readonly VARIANT="${1:-sacred_hill_l1}" CPU_MINUTES="${2:-5}" GAMES="${3:-400}"
readonly TARA="${TARA:-${ROOT}/bin/tara}"
readonly BASE=configs/sacred_hill_l1_10min.textproto
readonly FOLDER="runs/ablations/${VARIANT}"
readonly SEARCH=self_play.search.option

# NAME|SETTINGS, each beside the base.
readonly TECHNIQUES=(
  "base|"
  # What two runs of the same config differ by.
  "base, another seed|seed=2"
  "without Gumbel roots (PUCT, 64 simulations)|${SEARCH}=graph=on,proof=on \
self_play.search.simulations=64"
  "64 simulations|self_play.search.simulations=64"
  "16 simulations|self_play.search.simulations=16"
  "values weigh a fifth|${SEARCH}=gumbel=on,graph=on,proof=on,\
gumbel_c_scale=0.2"
  "without graph search|${SEARCH}=gumbel=on,proof=on"
  "without proof|${SEARCH}=gumbel=on,graph=on"
  "with the endgame solver|${SEARCH}=gumbel=on,graph=on,proof=on,solver_hills=8"
  "no searches after the proof|self_play.end_when_proved=true"
  "without openings|self_play.opening.share=0"
  "half the steps|learner.steps_per_generation=50"
  "twice the steps|learner.steps_per_generation=200"
  "playout cap, 16 and 64 simulations|self_play.search.simulations=64 \
self_play.playout_cap.full_share=0.25 self_play.playout_cap.fast_simulations=16"
  "without averaged weights|learner.ema_decay=0"
  "without the owner of hills|learner.owner_loss_weight=0"
  "with kingdoms|learner.kingdoms_loss_weight=0.2"
  "with the opponent's reply|learner.reply_loss_weight=0.15"
  "half of the values from searches|learner.value_search_share=0.5"
  "surprise|learner.policy_surprise=0.5"
  "growing window|learner.window_growth=0.75 learner.window_min_games=2000"
)

train() {
  local folder="$1" settings="$2" setting
  # A run that is begun again would make one generation more.
  [[ -e "${folder}.done" ]] && return
  local -a flags=()
  for setting in ${settings}; do
    flags+=(--set "${setting}")
  done
  "${TARA}" train "${ROOT}/${BASE}" --set "variant=${VARIANT}" \
    --set "run_dir=${folder}" --set minutes=0 --set generations=1000 \
    --set self_play.games_per_generation=250 \
    --set learner.steps_per_generation=100 \
    --set "cpu_minutes=${CPU_MINUTES}" --set evaluation.opponent=random \
    --set evaluation.final_games=2 "${flags[@]}" >"${folder}.log" 2>&1 &&
    touch "${folder}.done"
}

# Prints a row: what A scored against B.
row() {
  local name="$1" a="$2" b="$3"
  "${TARA}" arena --variant "${VARIANT}" --games "${GAMES}" --opening-plies 6 \
    --store "${FOLDER}/games.db" --format=json "net:${a},sims=100" \
    "net:${b},sims=100" |
    python3 -c '
import json, sys
[row] = json.load(sys.stdin)
name, generation = sys.argv[1:]
print("| %s | %s | %.1f [%.1f, %.1f] | %+.0f [%+.0f, %+.0f] |" % (
    name, generation,
    100 * row["score"], 100 * row["score_low"], 100 * row["score_high"],
    row["elo"], row["elo_low"], row["elo_high"]))' \
      "${name}" "$(generations "${a}")"
}

generations() {
  basename "$(<"$1/checkpoints/latest")" .pt |
    sed -e 's/ckpt-0*//' -e 's/^$/0/'
}

mkdir -p "${FOLDER}"
echo "${VARIANT}, ${CPU_MINUTES} minutes of processor time each, ${GAMES} games"
echo "| technique | generations | score % | Elo |"
echo "|---|---:|---|---|"
for technique in "${TECHNIQUES[@]}"; do
  name="${technique%%|*}"
  if (($# > 3)) && [[ "${name}" != base && " ${*:4} " != *" ${name} "* ]]; then
    continue
  fi
  folder="${FOLDER}/$(tr -cs 'A-Za-z0-9\n' _ <<<"${name}")"
  if ! train "${folder}" "${technique#*|}"; then
    tail -3 "${folder}.log" >&2
    exit 1
  fi
  if [[ "${name}" == base ]]; then
    base="${folder}"
    echo "| base | $(generations "${base}") | | |"
  else
    row "${name}" "${folder}" "${base}"
  fi
done
