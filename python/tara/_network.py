"""Judges of positions, and loading networks."""

import os
from typing import Any, Callable, Literal, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from tara import _tara

Judge = Union[
    _tara.Network, Literal["playouts"],
    Callable[[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]],
             Tuple[Any, Any]]]
"""What judges positions in a search.

A Network; "playouts", random games; or a function of one's own, which
tara.search describes."""


def load(model: Union[str, "os.PathLike[str]"] = "best", *,
         precision: str = "auto") -> _tara.Network:
    """Loads a network for inference on the CPU, by Tara's own engine.

    model: "best", the network that comes with Tara, or the path of a bundle
    (FILE.tara), of a checkpoint, or of a run's folder, whose newest checkpoint
    is meant. precision: "auto", the fastest number type that is accurate on
    this processor, or "float32", "bfloat16", "float16", "int16", "int8".

    Raises FileNotFoundError, or ValueError for a file that is damaged or not
    of this version, or for a number type that the processor lacks.
    """
    return _tara._load(model, precision)
