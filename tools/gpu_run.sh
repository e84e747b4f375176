#!/usr/bin/env bash
# Tests and measures Tara on a machine with a CUDA device, unattended:
#
#   tools/gpu_run.sh OUT [MINUTES]
#
# MINUTES: 3 to 600, for everything; 9 by default. Every part has a time limit.
# The folder OUT gets 8 files, whose lines are written as soon as they are known:
#
#   summary.txt        versions and devices, what was done, how long it took, and
#                      what failed
#   correctness.txt    the device compared with the CPU: evaluations of all
#                      variants, steps of learning, runs resumed on the other
#   bench.jsonl        inference, learning and self-play, a line per row, next to
#                      a bare loop in PyTorch
#   metrics.jsonl      events and progress of a run by configs/gpu.textproto, in
#                      the time that is left (docs/reference/metrics.md)
#   network.tara       the network of this run, which a run can begin with
#   light.tara         a light network that learned from the run's games
#   matches.jsonl      games of the first against models/tower.tara and
#                      mcts:sims=4000, and of the second against
#                      models/tara.tara, a line per variant
#   log.txt            messages of all programs
#
# Works in a checkout and in an archive of `bin/release --torch`. Variables:
#   TARA_PYTHON        Python with PyTorch (default: python3)
#   TARA_DEVICE        another device than cuda: cpu, to try the script
#   TARA_NETS          sizes that are measured, the most important first
#   TARA_SETTINGS      fields of the run's config, as "FIELD=VALUE ..."

set -uo pipefail
# Numbers with a point, and messages that anyone can search for.
export LC_ALL=C

case "${1:-}" in
  "" | -*)
    sed -n '2,/^$/{s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
    [[ "${1:-}" == -h || "${1:-}" == --help ]] && exit 0
    exit 2
    ;;
esac
minutes="${2:-9}"
if [[ ! "${minutes}" =~ ^[1-9][0-9]{0,2}$ ]] ||
  ((minutes < 3 || minutes > 600)); then
  echo "gpu_run.sh: MINUTES is '${minutes}'; expected a whole number from 3 to 600" >&2
  exit 2
fi
mkdir -p "$1" || exit 2
out="$(readlink -f "$1")"
root="$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")"
tara="${root}/tara"
if [[ ! -x "${tara}" ]]; then  # a checkout
  root="$(dirname "${root}")"
  tara="${root}/bin/tara"
fi
cores="$(nproc)"
work="$(mktemp -d)"
trap 'rm -rf "${work}"' EXIT
trap 'exit 130' INT TERM
readonly minutes out root tara cores work
readonly device="${TARA_DEVICE:-cuda}" python="${TARA_PYTHON:-python3}"
read -r -a nets <<<"${TARA_NETS:-64x6 128x10 48x5 192x15}"
read -r -a settings <<<"${TARA_SETTINGS:-}"
readonly nets settings
cd "${root}" || exit 2

# left: prints the seconds that are left.
left() { echo $((minutes * 60 - SECONDS)); }

say() { printf '%s\n' "$*" | tee -a "${out}/summary.txt" >&2; }

# step NAME SECONDS COMMAND...: runs a command for at most SECONDS, and never
# beyond the end, and adds a line to the summary. An interrupted command prints
# its results so far.
step() {
  local name="$1" limit="$2" begin="${SECONDS}" rest status=0 result=ok
  shift 2
  rest="$(left)"
  ((limit < rest)) || limit="${rest}"
  if ((limit <= 0)); then
    say "${name}: left out, as the time was up"
    return 1
  fi
  echo "== ${name}" >>"${out}/log.txt"
  timeout --foreground --signal=INT --kill-after=10 "${limit}" "$@" \
    2>>"${out}/log.txt" || status=$?
  if ((status != 0 && SECONDS - begin >= limit)); then
    result="ended by its limit"
  elif ((status != 0)); then
    result="FAILED with status ${status}: $(tail -n 1 "${out}/log.txt")"
  fi
  say "${name}: ${result} ($((SECONDS - begin)) s)"
  return "${status}"
}

# rows KEY VALUE: turns the JSON of a report into a line per row, each with this
# field before the others.
rows() {
  "${python}" -c '
import json, sys
text = sys.stdin.read().strip()
report = json.loads(text) if text else []
for row in report if isinstance(report, list) else [report]:
    print(json.dumps({sys.argv[1]: sys.argv[2], **row}))' "$@"
}

# scaled SECONDS: prints SECONDS times MINUTES / 9.
scaled() { echo $(($1 * minutes / 9)); }

environment() {
  echo "gpu_run.sh: ${minutes} minutes, device ${device}"
  date -u
  "${tara}" --version
  uname -srm
  ldd --version | head -n 1
  grep -m 1 'model name' /proc/cpuinfo
  echo "cores: ${cores}"
  grep MemTotal /proc/meminfo
  timeout 20 nvidia-smi || echo "nvidia-smi: failed"
  timeout 60 "${python}" -c '
import torch
print("torch", torch.__version__, "cuda", torch.version.cuda)
for i in range(torch.cuda.device_count()):
    print(torch.cuda.get_device_properties(i))' || echo "PyTorch: FAILED"
} >"${out}/summary.txt" 2>&1

# set_fields FIELD=VALUE...: makes `fields` options that set fields of a config.
set_fields() {
  local each
  fields=()
  for each in "$@"; do fields+=(--set "${each}"); done
}

# train FOLDER FIELD=VALUE...: runs small training of all variants.
train() {
  local name="$1"
  set_fields variant=all self_play.games_per_generation=60 \
    learner.batch_size=256 learner.steps_per_generation=40 \
    learner.autocast=off learner.window_games=200 learner.ema_decay=0.9 \
    learner.owner_loss_weight=0.5 network.channels=32 network.blocks=3 \
    evaluation.every=0 evaluation.final_games=1 "run_dir=${work}/$1" "${@:2}"
  step "training of ${name}" "$(scaled 60)" "${tara}" train \
    configs/tiny.textproto "${fields[@]}" >>"${out}/log.txt"
}

correctness() {
  # 1. Games and networks of the CPU, the reference of all comparisons.
  if ! train cpu; then
    say "correctness: FAILED, as the CPU has learned nothing to compare with"
    return
  fi
  # 2. Evaluations, of 256 positions at once, by number type.
  step "evaluations" "$(scaled 60)" "${tara}" bench inference \
    --checkpoint "${work}/cpu" --device "${device}" --batch 256 \
    --seconds 0.1 --format=json | "${python}" -c '
import json, sys
# Limits of mean differences. Convolutions of float32 may compute in TF32.
LIMITS = {"float32": 5e-3, "float16": 5e-3, "bfloat16": 3e-2, "int16": 5e-3,
          "int8": 1e-1}
bad = False
for row in json.load(sys.stdin):
    limit = LIMITS[row["precision"]]
    worst = max(row["value_error"], row["policy_error"])
    bad |= not worst <= limit
    print("evaluations:", row["backend"], row["precision"],
          f"mean difference {worst:.6f}, allowed {limit}")
sys.exit(bad)' || say "evaluations: FAILED (correctness.txt)"
  # 3. Losses of the same steps: of a tower twice on the device, and of a light
  # network.
  local from="games_from=${work}/cpu/games.db" kind
  local -A settings_of=([tower]="learner.autocast=off"
    [bfloat16]="learner.autocast=bfloat16"
    [light]="network.kind=light network.channels=64 network.blocks=2")
  local -a of_kind
  train tower-cpu "${from}"
  ln -s tower-cpu "${work}/bfloat16-cpu"
  read -r -a of_kind <<<"${settings_of[light]}"
  train light-cpu "${from}" "${of_kind[@]}"
  for kind in tower bfloat16 light; do
    read -r -a of_kind <<<"${settings_of[${kind}]}"
    train "${kind}-device" "${from}" "learner.device=${device}" \
      "${of_kind[@]}" || continue
    "${python}" - "${work}/${kind}"-{cpu,device}/metrics.jsonl \
      "${kind}" <<'EOF' || say "losses: FAILED (correctness.txt)"
import json, sys

runs = []
for path in sys.argv[1:3]:
    with open(path, encoding="utf-8") as file:
        events = [json.loads(line) for line in file]
    runs.append([event for event in events if event["event"] == "learning"])
worst = max(abs(value - on_device[name]) / max(abs(value), 0.1)
            for on_cpu, on_device in zip(*runs)
            for name, value in on_cpu.items() if name.endswith("loss"))
print(f"losses, {sys.argv[3]}: difference {100 * worst:.3f} % of the CPU's "
      f"after {runs[1][-1]['step']} steps, allowed 3 %")
sys.exit(not worst <= 0.03)
EOF
  done
  # 4. Runs that continue on the other device.
  local first second
  for first in cpu "${device}"; do
    [[ "${first}" == cpu ]] && second="${device}" || second=cpu
    train "resumed-${second}" "${from}" generations=1 \
      "learner.device=${first}" &&
      train "resumed-${second}" "${from}" "learner.device=${second}" &&
      echo "a run begun on ${first} was resumed on ${second}"
  done
} >"${out}/correctness.txt"

# A loop of forward passes of a residual tower of the same shape.
bare_loop() {
  step "bare loop" "$(scaled 20)" "${python}" - "${device}" "${nets[@]}" <<'EOF'
import json, sys, time

import torch

device = sys.argv[1]
on_cpu = device == "cpu"
dtype = torch.float32 if on_cpu else torch.bfloat16
SECONDS = 0.3


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = torch.nn.Conv2d(channels, channels, 3, padding=1)
        self.second = torch.nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x))) + x)


def prepared(tower, x):
    if on_cpu:
        return lambda: tower(x)
    for _ in range(3):
        tower(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        tower(x)

    def replay():
        for _ in range(20):
            graph.replay()
        torch.cuda.synchronize()
    return replay


for net in sys.argv[2:]:
    channels, blocks = map(int, net.split("x"))
    tower = torch.nn.Sequential(
        torch.nn.Conv2d(24, channels, 3, padding=1),
        *[Block(channels) for _ in range(blocks)])
    tower = tower.to(device, dtype, memory_format=torch.channels_last).eval()
    for batch in (256, 1024, 4096):
        x = torch.zeros(batch, 24, 7, 7, device=device, dtype=dtype)
        x = x.contiguous(memory_format=torch.channels_last)
        with torch.inference_mode():
            run = prepared(tower, x)
            run()
            begin, calls = time.time(), 0
            while time.time() - begin < SECONDS:
                run()
                calls += 1
            seconds = time.time() - begin
        positions = calls * batch * (1 if on_cpu else 20)
        print(json.dumps({"bench": "bare loop", "net": net,
                          "device": device, "batch": batch,
                          "positions_per_s": positions / seconds}), flush=True)
EOF
}

# bench_learner NETWORK OPTION...
bench_learner() {
  step "learning of $1" "$(scaled 15)" "${tara}" bench learner --net "$1" \
    --device "${device}" --threads 2 --batch 1024,4096 --seconds 1 \
    --format=json "${@:2}" | rows bench learner
}

bench() {
  local net precision=bfloat16
  [[ "${device}" != cpu ]] || precision=float32
  bare_loop
  bench_learner light:64x3
  for net in "${nets[@]}"; do
    step "inference of ${net}" "$(scaled 15)" "${tara}" bench inference \
      --net "${net}" --device "${device}" --precision "${precision}" \
      --threads "${cores}" --batch 256,1024,4096 --seconds 0.2 --format=json |
      rows bench inference
    bench_learner "${net}" --bfloat16
    # A fifth of the seconds goes to the bare network first. A generation takes
    # longer than the rest: the limit interrupts it.
    step "self-play of ${net}" "$(scaled 15)" "${tara}" bench selfplay \
      --net "${net}" --device "${device}" --precision "${precision}" \
      --variant all --sims 32 --search gumbel=on,graph=on --cache 2097152 \
      --threads "${cores}" --games-per-thread 1024 --seconds 5 \
      --format=json | rows bench selfplay
  done
} >"${out}/bench.jsonl"

# Trains until `$1` seconds are left.
run() {
  local seconds=$(($(left) - $1))
  ((seconds >= 20)) || seconds=20
  set_fields "run_dir=${work}/run" "self_play.threads=${cores}" \
    "inference.device=${device}" "learner.device=${device}" "${settings[@]}"
  # Its own limit comes first, so it ends with a complete generation.
  step "run" $((seconds + 15)) "${tara}" train configs/gpu.textproto \
    --minutes "$(awk "BEGIN { print ${seconds} / 60 }")" "${fields[@]}" \
    --format=json
} >"${out}/metrics.jsonl"

# light SECONDS: teaches a light network the run's games.
light() {
  set_fields "run_dir=${work}/light" "games_from=${work}/run/games.db" \
    "learner.device=${device}" learner.batch_size=1024 \
    learner.steps_per_generation=500 learner.held_out_share=0 \
    evaluation.final_games=1 evaluation.simulations=50 \
    evaluation.opponent=greedy
  step "light network" $(($1 + 15)) "${tara}" train configs/light.textproto \
    --minutes "$(awk "BEGIN { print $1 / 60 }")" "${fields[@]}"
} >>"${out}/log.txt"

# export_network RUN FILE
export_network() {
  step "export of $2" 20 "${tara}" export "${work}/$1" --for-learning \
    -o "${out}/$2" >>"${out}/log.txt"
}

# match PLAYER OPPONENT SECONDS GAMES: plays GAMES games of each variant, all at
# once.
match() {
  local variant threads=$(((cores + 9) / 10))
  for variant in "${variants[@]}"; do
    step "${variant} against $2" "$3" "${tara}" arena --variant "${variant}" \
      --games "$4" --threads "${threads}" --format=json \
      "$1" "$2" >"${work}/${variant}.json" &
  done
  wait
  for variant in "${variants[@]}"; do
    rows opponent "$2" <"${work}/${variant}.json"
  done | tee -a "${out}/matches.jsonl" | "${python}" -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
count = {name: sum(row[name] for row in rows)
         for name in ("games", "wins", "draws", "losses")}
print(f"{sys.argv[1]} against {sys.argv[2]}:", count)' "${1/${out}\//}" "$2" |
    tee -a "${out}/summary.txt" >&2
}

# Builds the program in a checkout; this does not count as part of the time.
"${tara}" --version || exit 1
mapfile -t variants < <("${tara}" variants --format=json |
  "${python}" -c 'import json, sys
for variant in json.load(sys.stdin): print(variant["id"])')
# Results of an earlier call could be mistaken for this one's.
rm -f "${out}"/{summary.txt,correctness.txt,bench.jsonl,metrics.jsonl} \
  "${out}"/{network.tara,light.tara,matches.jsonl,log.txt}
SECONDS=0
environment
cat "${out}/summary.txt" >&2
correctness
bench
# Of three matches, and of the light network.
part_seconds="$(scaled 40)"
readonly part_seconds
run $((4 * part_seconds + 60))
export_network run network.tara && {
  player="net:${out}/network.tara,sims=100"
  match "${player}" net:models/tower.tara,sims=100 "${part_seconds}" \
    "$(scaled 40)"
  match "${player}" mcts:sims=4000 "${part_seconds}" "$(scaled 8)"
}
light "${part_seconds}"
export_network light light.tara &&
  match "net:${out}/light.tara,sims=200" net:models/tara.tara,sims=200 \
    "${part_seconds}" "$(scaled 40)"
# At most 15 MB per file: keeps the end of longer files.
for file in "${out}"/*.{txt,jsonl}; do
  [[ "$(stat --format=%s "${file}")" -gt 15000000 ]] || continue
  tail -c 15000000 "${file}" >"${work}/end" && cp "${work}/end" "${file}"
done
say "all: ${SECONDS} s"
! grep -q FAILED "${out}/summary.txt"
