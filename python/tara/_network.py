"""Where networks are found."""

import os
import pathlib
from typing import Union

from tara import _tara

_HERE = pathlib.Path(__file__).resolve().parent


def load(model: Union[str, "os.PathLike[str]"] = "best", *,
         precision: str = "auto") -> _tara.Network:
    """Loads a network for inference on the CPU, by Tara's own engine.

    model: "best", the network that comes with Tara, or the path of a bundle
    (FILE.tara) or of a checkpoint of a run. precision: "auto", the fastest
    number type that is accurate here, "float32", "int8" or another that
    `tara --help` lists.
    Raises FileNotFoundError, or ValueError for a file that is damaged or not
    of this version, or for a number type that the processor lacks.
    """
    path = pathlib.Path(model)
    if str(model) == "best":
        path = next((each for each in (_HERE / "models" / "tara.tara",
                                       _HERE.parents[1] / "models/tara.tara")
                     if each.exists()), _HERE / "models" / "tara.tara")
    if not path.is_file():
        raise FileNotFoundError(
            f"model: {path}: no such file; expected a bundle, a checkpoint "
            "or 'best'")
    return _tara._load(str(path), precision)
