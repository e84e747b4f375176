"""Names of network inputs, and symmetries of the board."""

from types import MappingProxyType
from typing import Mapping

from tara import _tara
from tara._types import Input, Symmetries


def _inputs(rows: "list[tuple[str, str]]") -> Mapping[str, Input]:
    return MappingProxyType({name: Input(index, name, meaning)
                             for index, (name, meaning) in enumerate(rows)})


PLANES: Mapping[str, Input] = _inputs(_tara._PLANES)
"""The planes of network inputs by name, in their order.

    near = planes[:, tara.PLANES["enemy_neighbours"].index]"""
GLOBALS: Mapping[str, Input] = _inputs(_tara._GLOBALS)
"""The scalar network inputs by name, in their order."""
SYMMETRIES = Symmetries(*_tara._SYMMETRIES)
"""Where the eight symmetries of the board take actions and squares."""
