"""Evaluators of positions, and loading of networks."""

import os
from typing import Any, Callable, Literal, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from tara import _tara

Evaluator = Union[
    _tara.Network, Literal["playouts"],
    Callable[[NDArray[np.float32], NDArray[np.float32], NDArray[np.uint8]],
             Tuple[Any, Any]]]
"""The evaluator of positions in a search.

A Network, "playouts" for random games, or a function as described in
tara.search."""


def load(model: Union[str, "os.PathLike[str]"] = "best", *,
         precision: str = "auto") -> _tara.Network:
    """Loads a network for inference on the CPU with Tara's own engine.

    model: "best" for the network that comes with Tara, or the path of a bundle
    (FILE.tara), a checkpoint, or the folder of a run, which stands for its
    newest checkpoint. precision: the number type that its evaluations must have,
    "int8" for a light network and "float32" for a tower; "auto" for either.

    Raises FileNotFoundError for a missing file, and ValueError for a damaged
    file, an unsupported version or an unsupported number type.
    """
    return _tara._load(model, precision)
