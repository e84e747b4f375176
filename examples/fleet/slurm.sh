#!/usr/bin/env bash
# A run of training on a cluster with Slurm:
#
#   sbatch --nodes=4 examples/fleet/slurm.sh CONFIG [OPTIONS OF TRAIN]
#
# from a clone with `bin/tara` built and an environment that every node sees,
# with Ray and Tara (docs/how-to/use_a_fleet.md), active or in TARA_ENV. Where
# the job was stopped, by its time or scancel, the same command resumes.
#SBATCH --job-name=tara
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=08:00:00
#SBATCH --signal=B:INT@60
set -euo pipefail

if [[ -n "${TARA_ENV:-}" ]]; then
  # shellcheck source=/dev/null
  source "${TARA_ENV}/bin/activate"
fi
cd "${SLURM_SUBMIT_DIR}"

# Ports are open to all users of the nodes: only this job has the token.
export RAY_AUTH_MODE=token
RAY_AUTH_TOKEN="$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')"
export RAY_AUTH_TOKEN
port=$((20000 + SLURM_JOB_ID % 20000))
mapfile -t nodes < <(scontrol show hostnames "${SLURM_JOB_NODELIST}")
head="${nodes[0]}"

# The first node has the head and the driver, which learns; it plays as well.
start=(srun --nodes=1 --ntasks=1 --overlap)
"${start[@]}" --nodelist="${head}" ray start --head --port="${port}" \
  --num-cpus="${SLURM_CPUS_ON_NODE}" --include-dashboard=false --block &
until ray status --address="${head}:${port}" >/dev/null 2>&1; do sleep 1; done
for node in "${nodes[@]:1}"; do
  "${start[@]}" --nodelist="${node}" ray start --address="${head}:${port}" \
    --num-cpus="${SLURM_CPUS_ON_NODE}" --block &
done

TARA_BINARY="${TARA_BINARY:-bazel-out/k8-opt/bin/tara/cli/tara}" \
  python -m tara.fleet train "$@" --address="${head}:${port}" &
driver=$!
trap 'kill -INT "${driver}"' INT TERM
status=0
wait "${driver}" || status=$?
# A signal ends `wait`: the driver may still be at its end.
wait "${driver}" || status=$?
exit "${status}"
