"""Writes the metrics of a run as curves of TensorBoard, with tensorboardX.

    python examples/python/tensorboard_curves.py runs/generalist --follow
    tensorboard --logdir runs/generalist
"""

import argparse
import json
import pathlib
import time

import tensorboardX

# Fields of an event that divide it into curves, and fields that are none.
NAMES = ("variant", "opponent")
NOT_CURVES = {"event", "generation", *NAMES}


def lines_of(path, follow):
    """Yields the complete lines of a file; with `follow`, new ones forever."""
    with path.open(encoding="utf-8") as file:
        while True:
            place = file.tell()
            line = file.readline()
            if line.endswith("\n"):
                yield line
            elif follow:
                file.seek(place)
                time.sleep(1)
            else:
                return


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", help="folder of a run", type=pathlib.Path)
    parser.add_argument("--follow", action="store_true",
                        help="until Ctrl-C, as the run grows")
    arguments = parser.parse_args()
    folder = str(arguments.run / "tensorboard")
    with tensorboardX.SummaryWriter(folder) as curves:
        try:
            for line in lines_of(arguments.run / "metrics.jsonl",
                                 arguments.follow):
                event = json.loads(line)
                of = [event["event"], *(event[name] for name in NAMES
                                        if name in event)]
                for field, value in event.items():
                    if (field not in NOT_CURVES
                            and isinstance(value, (int, float))):
                        curves.add_scalar("/".join([*of, field]), value,
                                          event["generation"])
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
