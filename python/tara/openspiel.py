"""Tara for OpenSpiel: the game python_tara, with all variants.

    import pyspiel
    import tara.openspiel

    game = pyspiel.load_game("python_tara(variant=four_treasures)")
    state = game.new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    print(state.returns())

Importing this module registers the game. Requires the package open_spiel.

The parameter variant is one of tara.VARIANTS. The parameter options has the
rule options, as in tara.State. OpenSpiel splits game strings at "," and "=",
so write ";" and ":" instead in a game string:
"python_tara(variant=high_kings_l1,options=no_progress_limit:20)". Omit the
parameter for the default rules, because OpenSpiel rejects "-" there.

In OpenSpiel 2.0.2, games written in Python crash pyspiel.MCTSBot.step. Use
step_with_policy, or the bot of open_spiel.python.algorithms.mcts.
"""

import typing
from typing import Dict, List, Optional, Tuple

import numpy as np
import pyspiel  # type: ignore[import-not-found]
from numpy.typing import NDArray
from open_spiel.python import observation  # type: ignore[import-untyped]

import tara

__all__ = ["TaraGame", "TaraState"]

_HILLS = 45
_LINKS = 76  # adjacent pairs of hills
_CAPTURES = 24  # see _longest_game


def _game_type(min_players: int, max_players: int) -> typing.Any:
    of = pyspiel.GameType
    return of(
        short_name="python_tara", long_name="Tara",
        dynamics=of.Dynamics.SEQUENTIAL,
        chance_mode=of.ChanceMode.DETERMINISTIC,
        information=of.Information.PERFECT_INFORMATION,
        utility=of.Utility.ZERO_SUM, reward_model=of.RewardModel.TERMINAL,
        min_num_players=min_players, max_num_players=max_players,
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True, provides_observation_tensor=True,
        parameter_specification={"variant": tara.VARIANTS[0], "options": ""})


def _options_of(state: tara.State) -> Dict[str, str]:
    """Returns the rule options of a position that are not the default."""
    if state.options == "-":
        return {}
    pairs = [option.split("=") for option in state.options.split(",")]
    return {name: value for name, value in pairs}


def _longest_game(start: tara.State) -> int:
    """Returns a bound of the actions of a game (docs/reference/rules.md).

    A hill that has a ringfort keeps one: 45 actions at most build or place. A
    ringfort is captured, or sacrificed, if all hills around it are the
    enemy's. It is then the enemy's, too, and adjacent ringforts of one side
    are safe: neither hill changes sides again. So no two such hills are
    adjacent, and as 21 pairs of adjacent hills cover all but 3, there are at
    most 21 + 3 = 24 of them. Sacred Hill, Four Treasures and Poisoned Chalice
    have no other actions.

    High Kings: all other progress captures a king, at most one of each side
    before the one that ends the game. Fewer actions than the limit of decision
    10 precede each action with progress, and at most that number follow the
    last one.

    Stone of Destiny: a link is permanent. Fewer turns than the limit, of one
    action, precede each turn that makes a link, of two actions; at most that
    number follow the last one.

    The pie rule can add one action, the swap.
    """
    options = _options_of(start)
    limit = int(options.get("no_progress_limit", 40))
    if start.variant.startswith("high_kings"):
        longest = (_HILLS + _CAPTURES + 3) * limit + limit
    elif start.variant == "stone_of_destiny":
        longest = _HILLS + _LINKS * (limit + 1) + limit
    else:
        longest = _HILLS + _CAPTURES
    return longest + ("pie_rule" in options)


class _Position:
    """A position with its actions; immutable, and shared by clones."""

    __slots__ = ("state", "actions")

    state: tara.State
    actions: Dict[int, int]
    """The legal actions: from actions as seen, ascending, to those of the
    state."""

    def __init__(self, state: tara.State) -> None:
        self.state = state
        self.actions = dict(sorted(zip(state.legal(seen=True).tolist(),
                                       state.legal().tolist())))

    def __deepcopy__(self, memo: Dict[int, typing.Any]) -> "_Position":
        return self

    def __reduce__(self) -> Tuple[typing.Any, ...]:
        return _Position, (self.state,)

    def action(self, seen: int) -> int:
        """Returns the action that is seen so; ValueError if illegal."""
        try:
            return self.actions[seen]
        except KeyError:
            legal = ", ".join(map(str, self.actions)) or "none"
            raise ValueError(f"illegal action {seen}; legal, as the seat to "
                             f"move sees them: {legal}") from None


class TaraGame(pyspiel.Game):  # type: ignore[misc]
    """The game of one variant; players are the seats.

    A seat can have several turns in a row. It gets the return of its side: 1
    for a win, -1 for a loss, 0 for a draw. Partners get the same return.
    """

    def __init__(self, params: Optional[Dict[str, typing.Any]] = None) -> None:
        given = params or {}
        variant = given.get("variant", tara.VARIANTS[0])
        options = given.get("options", "").replace(";", ",").replace(":", "=")
        start = tara.State(variant, options or "-")  # raises ValueError
        parameters = {"variant": start.variant}
        if start.options != "-":
            parameters["options"] = start.options.replace(
                ",", ";").replace("=", ":")
        super().__init__(
            _game_type(start.seats, start.seats),
            pyspiel.GameInfo(
                num_distinct_actions=tara.NUM_ACTIONS, max_chance_outcomes=0,
                num_players=start.seats, min_utility=-1.0, max_utility=1.0,
                utility_sum=0.0, max_game_length=_longest_game(start)),
            parameters)
        self._start = _Position(start)

    def new_initial_state(self, position: Optional[str] = None) -> "TaraState":
        """Returns the start position, or the position of a text as in
        tara.State.

        Raises ValueError for a text that is not a position of this game.
        """
        if position is None:
            return TaraState(self, self._start)
        if not isinstance(position, str):
            raise ValueError(f"position: {position!r}; expected its text")
        state = tara.State.parse(position)
        start = self._start.state
        rules, options = _options_of(start), _options_of(state)
        if "pie_rule" not in options:  # there cannot be a swap any more
            rules.pop("pie_rule", None)
        if state.variant != start.variant or options != rules:
            raise ValueError(
                f"position: of {state.variant} with options {state.options}; "
                f"expected {start.variant} with {start.options}")
        return TaraState(self, _Position(state),
                         "" if state == start else state.text)

    def make_py_observer(self, iig_obs_type: typing.Any = None,
                         params: typing.Any = None) -> typing.Any:
        """Returns an observer of positions, or of histories as text."""
        if iig_obs_type is None or (iig_obs_type.public_info
                                    and not iig_obs_type.perfect_recall):
            return _Observer(params)
        return _HistoryObserver(iig_obs_type, params)


class TaraState(pyspiel.State):  # type: ignore[misc]
    """A position and its history.

    Actions, and the observations of all players, refer to the position
    transformed so that the seat to move is seat 0. Texts of actions refer to
    the original position.
    """

    def __init__(self, game: TaraGame, position: _Position,
                 start: str = "") -> None:
        super().__init__(game)
        self._position = position
        self._start = start

    @property
    def start(self) -> str:
        """The text of the first position; "" for the start position of the
        game."""
        return self._start

    @property
    def position(self) -> tara.State:
        """The position."""
        return self._position.state

    def current_player(self) -> int:
        """Returns the seat to move, or pyspiel.PlayerId.TERMINAL."""
        seat = self._position.state.seat
        terminal: int = pyspiel.PlayerId.TERMINAL
        return terminal if seat is None else seat

    def is_terminal(self) -> bool:
        """Returns whether the game is over."""
        return self._position.state.finished

    def returns(self) -> List[float]:
        """Returns the returns of the seats: zeros until the game is over."""
        state = self._position.state
        outcome = state.outcome
        if outcome is None or outcome.winner is None:
            return [0.0] * state.seats
        return [1.0 if seat % 2 == outcome.winner else -1.0
                for seat in range(state.seats)]

    def _legal_actions(self, player: int) -> List[int]:
        return list(self._position.actions)

    def _apply_action(self, action: int) -> None:
        position = self._position
        self._position = _Position(
            position.state.play(position.action(action)))

    def _action_to_string(self, player: int, action: int) -> str:
        position = self._position
        return position.state.action_text(position.action(action))

    def __str__(self) -> str:
        return self._position.state.text


class _Observer:
    """Writes float32 [NUM_PLANES + NUM_GLOBALS, 7, 7], as tara.gym has it.

    The same for all players; zeros once the game is over.
    """

    def __init__(self, params: typing.Any) -> None:
        if params:
            raise ValueError(f"observation parameters: {params!r}; expected "
                             "none")
        shape = (tara.NUM_PLANES + tara.NUM_GLOBALS, 7, 7)
        self.tensor: NDArray[np.float32] = np.zeros(np.prod(shape), np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)}

    def set_from(self, state: TaraState, player: int) -> None:
        """Writes the observation of a state into `tensor`."""
        self.dict["observation"][:] = (
            0 if state.is_terminal()
            else state.position.features().as_planes())

    def string_from(self, state: TaraState, player: int) -> str:
        """Returns the text of the position."""
        return str(state)


class _HistoryObserver(
        observation.IIGObserverForPublicInfoGame):  # type: ignore[misc]
    """Writes histories as text, those from other starts with the start."""

    def string_from(self, state: TaraState, player: int) -> str:
        """Returns the text of the history, or of nothing."""
        text: str = super().string_from(state, player)
        if not self._iig_obs_type.public_info or not state.start:
            return text
        return f"{state.start} {text}".rstrip()


pyspiel.register_game(_game_type(2, 4), TaraGame)
