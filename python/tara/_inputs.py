"""Names of network inputs, and symmetries of the board."""

from types import MappingProxyType
from typing import Mapping

import numpy as np
from numpy.typing import NDArray

from tara import _tara
from tara._types import Input, Symmetries


def _inputs(rows: "list[tuple[str, str]]") -> Mapping[str, Input]:
    return MappingProxyType({name: Input(index, name, meaning)
                             for index, (name, meaning) in enumerate(rows)})


def _squares() -> NDArray[np.uint16]:
    """Returns where the board transforms take squares: [8, 49]."""
    tables = []
    for index in range(8):
        flipped = np.arange(49).reshape(7, 7)[::-1 if index & 2 else 1,
                                              ::-1 if index & 1 else 1]
        tables.append((flipped.T if index & 4 else flipped).ravel())
    return np.array(tables, np.uint16)


PLANES: Mapping[str, Input] = _inputs(_tara._PLANES)
"""The planes of network inputs by name, in their order.

    near = planes[:, tara.PLANES["enemy_neighbours"].index]"""
GLOBALS: Mapping[str, Input] = _inputs(_tara._GLOBALS)
"""The scalar network inputs by name, in their order."""
SYMMETRIES = Symmetries(_tara._ACTION_TRANSFORMS, _squares())
"""Where the eight symmetries of the board take actions and squares."""
