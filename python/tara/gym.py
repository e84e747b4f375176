"""Tara for Gymnasium: one side of a game against an opponent.

    import gymnasium
    import tara.gym

    env = gymnasium.make("tara/FourTreasures-v0", opponent="mcts:sims=100")
    observation, info = env.reset(seed=1)
    action = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)

There is one environment per variant, "tara/SacredHillL1-v0" to
"tara/StoneOfDestiny-v0". Vector environments play many games in lockstep, and
their opponents search together:

    envs = gymnasium.make_vec("tara/FourTreasures-v0", num_envs=64,
                              opponent="mcts:sims=100")

Requires the package gymnasium, 1.1 or later. tara.Games is faster and does not
need it.
"""

import functools
import typing
from typing import (Callable, Dict, List, Optional, SupportsIndex, Tuple,
                    Union)

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

import tara
from tara import _tara
from tara._play import _Choose
from tara._types import _Options

__all__ = ["BOUND", "OBSERVATION_SHAPE", "TaraEnv", "TaraVectorEnv"]

_MAX_GAMES = 1 << 26  # of tara.Games
# No input is further from 0, with any rule options.
BOUND = 8.0
"""Observations lie between -BOUND and BOUND."""
OBSERVATION_SHAPE = (tara.NUM_PLANES + tara.NUM_GLOBALS, 7, 7)
"""Shape of an observation: planes, then globals, each as one plane."""
Info = Dict[str, typing.Any]


def observation_space() -> gymnasium.spaces.Box:
    """Returns the space of an observation, as Features.as_planes has it."""
    return gymnasium.spaces.Box(-BOUND, BOUND, OBSERVATION_SHAPE, np.float32)


def check_modes(render_mode: Optional[str], illegal: str) -> None:
    """Raises ValueError for what no environment of Tara has."""
    if render_mode not in (None, "ansi", "rgb_array"):
        raise ValueError(f"render_mode: {render_mode!r}; expected 'ansi', "
                         "'rgb_array' or None")
    if illegal not in ("lose", "raise"):
        raise ValueError(f"illegal: {illegal!r}; expected 'lose' or 'raise'")


def picture(state: tara.State) -> NDArray[np.uint8]:
    """Returns a plain picture of a position, uint8 [336, 336, 3].

    North is up; ringforts are discs of their sides' colours, kings have a white
    dot, and links are bars. State.svg draws a better one.
    """
    row, = np.frombuffer(bytes(state), tara.STATE)
    rank, file = np.mgrid[:7, :7]
    y, x = np.mgrid[-24:24, -24:24]  # of a hill's square, from its middle
    image = np.full((7, 7, 48, 48, 3), 232, np.uint8)  # [rank, file, y, x]

    def draw(hills: typing.Any, shape: typing.Any, colour: typing.Any) -> None:
        image[hills[:, :, None, None] & shape] = colour

    def hills(board: typing.Any) -> typing.Any:
        return int(board) >> (9 * rank + file).astype(object) & 1 == 1

    east, north = hills(row["links_east"]), hills(row["links_north"])
    draw(east, (abs(y) < 4) & (x >= 0), 60)
    draw(np.roll(east, 1, 1), (abs(y) < 4) & (x <= 0), 60)
    draw(north, (abs(x) < 4) & (y <= 0), 60)
    draw(np.roll(north, 1, 0), (abs(x) < 4) & (y >= 0), 60)
    disc, dot = (x * x + y * y < radius * radius for radius in (17, 7))
    draw((rank % 6 != 0) | (file % 6 != 0), disc, (205, 202, 190))
    for side, of_fort, of_king in ((0, (190, 40, 40), (255, 190, 190)),
                                   (1, (40, 80, 180), (190, 210, 255))):
        draw(hills(row["ringforts"][side]), disc, of_fort)
        draw(hills(row["kings"][side]), dot, of_king)
    return image[::-1].transpose(0, 2, 1, 3, 4).reshape(336, 336, 3)


def reset_needed(what: str) -> gymnasium.error.ResetNeeded:
    """Returns the error of a call that needs a game."""
    return gymnasium.error.ResetNeeded(
        f"{what}: no game has begun; call reset first")


def _states(positions: NDArray[np.void]) -> List[tara.State]:
    return [tara.State.from_bytes(each.tobytes()) for each in positions]


# Returns actions of the games that the mask has, one after another.
_Opponent = Callable[[tara.Games, NDArray[np.bool_], np.random.Generator],
                     NDArray[np.int64]]


def _random(games: tara.Games, where: NDArray[np.bool_],
            random: np.random.Generator) -> NDArray[np.int64]:
    games_of, legal = np.nonzero(games.legal_mask()[where].view(np.bool_))
    counts = np.bincount(games_of)
    drawn = (random.random(len(counts)) * counts).astype(np.int64)
    actions: NDArray[np.int64] = legal[np.cumsum(counts) - counts + drawn]
    return actions


def _opponent_of(opponent: Union[str, tara.Player, _Choose],
                 variant: str, options: _Options, threads: int) -> _Opponent:
    if isinstance(opponent, str) and opponent == "random":
        return _random
    player = _tara._Opponent(opponent, tara.State(variant, options), threads)
    return lambda games, where, random: player.choose(
        games.states[where], int(random.integers(1 << 62))).astype(np.int64)


class _Play:
    """n games in lockstep, at one's own turns, for all environments.

    Opponents' turns are played at once, in all games together. A game that ends
    is at its start again, and waits there for `begin`.
    """

    final: NDArray[np.void]
    """[n], of dtype STATE: the position in which each game has last ended."""
    last_seats: NDArray[np.uint8]
    """[n]: one's seats of the last turns."""
    turns: NDArray[np.void]
    """[n], of dtype STATE: the positions of one's last turns."""
    _games: tara.Games
    _ready = False

    def __init__(self, variant: str, n: int,
                 opponent: Union[str, tara.Player, _Choose, None],
                 side: Optional[int], options: _Options, threads: int,
                 illegal: str) -> None:
        self._illegal = illegal
        self._new_games = functools.partial(tara.Games, variant, n,
                                            options=options, threads=threads)
        self._new_games()  # raises for what is wrong
        if side not in (None, 0, 1):
            raise ValueError(f"side: {side!r}; expected 0, 1 or None")
        if opponent is None and side is not None:
            raise ValueError(f"side: {side!r}; expected None without an "
                             "opponent: one plays both")
        self._opponent = (None if opponent is None
                          else _opponent_of(opponent, variant, options,
                                            threads))
        self._wanted_side = side
        self._sides = np.zeros(n, np.int64)
        self._places = np.arange(n)

    def reset(self, random: np.random.Generator) -> None:
        """Restarts all games, and plays up to one's first turns."""
        self._ready = False
        self._games = self._new_games()
        self.final = self._games.states.copy()
        self.begin(np.ones(len(self._games), np.bool_), random)

    def begin(self, where: NDArray[np.bool_],
              random: np.random.Generator) -> None:
        """Begins the games of `where`, bool [n], each at its start."""
        self._ready = False
        while where.any():  # an opponent alone could in theory end a game
            if self._wanted_side is not None:
                self._sides[where] = self._wanted_side
            elif self._opponent is not None:
                self._sides[where] = random.integers(2, size=where.sum())
            where = self._opponents_turns(where, random)[1]
        self.turns = self._games.states.copy()
        self._ready = True

    def step(self, actions: typing.Any, random: np.random.Generator
             ) -> Tuple[NDArray[np.float64], NDArray[np.bool_],
                        NDArray[np.bool_]]:
        """Plays an action, as it is seen, in each game; then the opponents.

        Returns rewards [n], where games ended [n] and where an illegal action
        lost them [n]; `begin` must be next where one ended. Raises ValueError
        for an illegal action with illegal="raise": then nothing has changed;
        ResetNeeded before a reset.
        """
        if not self._ready:
            raise reset_needed("step")
        lost = self._lost(actions)
        seats = self._games.seat.copy()
        before = self._games.states.copy()
        step = self._games.step(actions, seen=True, where=~lost)
        self.last_seats = seats
        self._ready = False  # until the opponents have played
        done = step.done.astype(np.bool_)
        self.final[done] = step.final
        if self._opponent is None:
            self._sides[:] = seats % 2
        reward = step.reward[self._places, self._sides].astype(np.float64)
        more, ended = self._opponents_turns(~done & ~lost, random)
        reward += more
        done |= ended
        if lost.any():
            self.final[lost] = before[lost]
            reward[lost] = -1
            done |= lost
            self._games.reset(where=lost)
        if not done.any():
            self.turns = self._games.states.copy()
            self._ready = True
        return reward, done, lost

    def _lost(self, actions: typing.Any) -> NDArray[np.bool_]:
        """Returns [n], where an action is illegal and loses."""
        lost = np.zeros(len(self._games), np.bool_)
        if self._illegal == "lose":
            mask = self._games.legal_mask(seen=True)
            given = np.asarray(actions)
            if (given.shape == lost.shape and given.dtype.kind in "iu"
                    and ((given >= 0) & (given < mask.shape[1])).all()):
                lost = mask[self._places, given] == 0
        return lost

    def observe(self) -> NDArray[np.float32]:
        """Returns observations of the games, [n, *OBSERVATION_SHAPE]."""
        return self._games.observe().as_planes()

    def observe_ends(self, done: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Returns the final observations of the games in `done`, for one's
        last seats."""
        return tara.encode(self.final[done],
                           seats=self.last_seats[done]).as_planes()

    def mask(self) -> NDArray[np.int8]:
        """Returns [n, NUM_ACTIONS]: 1 where an action, as seen, is legal."""
        return self._games.legal_mask(seen=True).view(np.int8)

    def _opponents_turns(
            self, where: NDArray[np.bool_], random: np.random.Generator
            ) -> Tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Plays up to one's own turns; returns rewards, and which ended."""
        reward = np.zeros(len(where))
        ended = np.zeros(len(where), np.bool_)
        if self._opponent is None:
            return reward, ended
        actions = np.zeros(len(where), np.int64)
        while (where := where & (self._games.seat % 2 != self._sides)).any():
            actions[where] = self._opponent(self._games, where, random)
            step = self._games.step(actions, where=where)
            done = step.done.astype(np.bool_)
            self.final[done] = step.final
            reward += step.reward[self._places, self._sides]
            ended |= done
            where &= ~done
        return reward, ended


class TaraEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A game against an opponent. In doubles, the agent plays both seats of a
    side.

    Observations are float32 of shape OBSERVATION_SHAPE. The position is
    transformed so that the seat to move is seat 0, and actions refer to this
    transformed position. info["action_mask"] is int8 [NUM_ACTIONS], 1 for
    legal actions. At the end, the observation is the final position as seen from the seat of the
    agent's last turn, without a phase, and the mask is all zeros. The reward
    comes at the end: 1 for a win, -1 for a loss, 0 for a draw.

    opponent: a player spec such as "mcts:sims=100", "greedy" or "best:sims=50",
    a Player or a function, as in tara.arena; or None. With None, the agent
    plays all seats, and the reward is for the side that has just moved.
    side: 0 for Red, 1 for Blue, None for a random side per game.
    options: rule options. Games are reproducible with the same seed.
    illegal: with "lose", an illegal action loses the game, and info["illegal"]
    is True; with "raise", it raises ValueError and changes nothing. An index
    outside the action space raises in both.
    render_mode: "ansi" for text, "rgb_array" for pictures, or None.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1}
    _last: tara.State
    _mask: NDArray[np.int8]

    def __init__(self, variant: str,
                 opponent: Union[str, tara.Player, _Choose, None] = "random",
                 side: Optional[int] = None, options: _Options = "-",
                 render_mode: Optional[str] = None,
                 illegal: str = "lose") -> None:
        check_modes(render_mode, illegal)
        self.variant = variant
        self.options = options
        self.render_mode = render_mode
        self._play = _Play(variant, 1, opponent, side, options, threads=1,
                           illegal=illegal)
        self.observation_space = observation_space()
        self.action_space = gymnasium.spaces.Discrete(tara.NUM_ACTIONS)

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Info] = None
              ) -> Tuple[NDArray[np.float32], Info]:
        """Starts a game and plays up to the agent's turn; returns observation,
        info.

        seed: seed of the side, the opponent's random numbers and its searches.
        options: ignored.
        """
        super().reset(seed=seed)
        self._play.reset(self.np_random)
        self._begin_turn()
        return self._play.observe()[0], self._info()

    def step(self, action: np.int64
             ) -> Tuple[NDArray[np.float32], float, bool, bool, Info]:
        """Plays an action, then the opponent's, up to the agent's next turn.

        Returns observation, reward, terminated, truncated (False) and info.
        """
        reward, done, lost = self._play.step(np.array([action]),
                                             self.np_random)
        if done[0]:
            self._last, = _states(self._play.final)
            self._mask = np.zeros(tara.NUM_ACTIONS, np.int8)
            seen = self._play.observe_ends(done)[0]
        else:
            self._begin_turn()
            seen = self._play.observe()[0]
        info = self._info()
        if lost[0]:
            info["illegal"] = True
        return seen, float(reward[0]), bool(done[0]), False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns bool [NUM_ACTIONS], True for legal actions.

        sb3_contrib.MaskablePPO calls this method.
        """
        if not hasattr(self, "_last"):
            raise reset_needed("action_masks")
        return self._mask.astype(np.bool_)

    def render(self) -> typing.Any:
        """Returns the position as text or picture, by render_mode."""
        if self.render_mode is None:
            return None
        if not hasattr(self, "_last"):
            raise reset_needed("render")
        return (self._last.text if self.render_mode == "ansi"
                else picture(self._last))

    def _begin_turn(self) -> None:
        self._last, = _states(self._play.turns)
        self._mask = self._play.mask()[0]

    def _info(self) -> Info:
        return {"action_mask": self._mask.copy()}


class TaraVectorEnv(gymnasium.vector.VectorEnv[
        NDArray[np.float32], NDArray[np.int64], NDArray[typing.Any]]):
    """Games of TaraEnv in lockstep, with observations, actions and rewards
    [n].

    The opponents of all games search together, on `threads` threads. A game
    that ends is reset within the same step, up to the agent's first turn in
    the next game (same-step autoreset). The info of that step has three more
    keys. They are present only if a game ended: info["final_obs"] contains the
    last observation of each game that ended, float32 of shape
    OBSERVATION_SHAPE, and None for the others.
    info["final_info"]["action_mask"] is all zeros. info["_final_obs"] is bool
    [n], True for the games that ended.

    info["action_mask"] is int8 [n, NUM_ACTIONS]. info["illegal"] is present if
    an illegal action lost a game: bool [n]. With illegal="raise", an illegal
    action in any game raises ValueError and changes nothing. All games share
    one random generator, so the random numbers of a game depend on the other games. A
    single game equals that of TaraEnv with the same seed.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 1,
                "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, variant: str, num_envs: int = 1,
                 opponent: Union[str, tara.Player, _Choose, None] = "random",
                 side: Optional[int] = None, options: _Options = "-",
                 render_mode: Optional[str] = None, threads: int = 1,
                 illegal: str = "lose") -> None:
        check_modes(render_mode, illegal)
        self.variant = variant
        self.options = options
        self.render_mode = render_mode
        self.num_envs = num_envs
        if not isinstance(num_envs, SupportsIndex) or not (
                1 <= num_envs <= _MAX_GAMES):
            raise ValueError(f"num_envs: {num_envs!r}; expected 1 to "
                             f"{_MAX_GAMES}")
        self._play = _Play(variant, num_envs, opponent, side, options, threads,
                           illegal)
        self.single_observation_space = observation_space()
        self.single_action_space = gymnasium.spaces.Discrete(tara.NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space,
                                             num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Info] = None
              ) -> Tuple[NDArray[np.float32], Info]:
        """Starts all games; returns observations and info.

        seed: seed of the sides, the opponents' random numbers and their
        searches. options: ignored; a reset_mask raises ValueError.
        """
        if options and "reset_mask" in options:
            raise ValueError("options: reset_mask; expected a reset of all "
                             "games: finished games restart by themselves")
        super().reset(seed=seed)
        self._play.reset(self.np_random)
        return self._play.observe(), self._info()

    def step(self, actions: NDArray[np.int64]
             ) -> Tuple[NDArray[np.float32], NDArray[typing.Any],
                        NDArray[typing.Any], NDArray[typing.Any], Info]:
        """Plays an action in each game, then the opponents, up to the next
        turns.

        Returns observations, rewards, terminated, truncated (False) and info.
        """
        reward, done, lost = self._play.step(actions, self.np_random)
        final: Info = {}
        if lost.any():
            final = {"illegal": lost, "_illegal": lost.copy()}
        if done.any():
            final |= self._final(done)
            self._play.begin(done, self.np_random)
        return (self._play.observe(), reward, done, np.zeros_like(done),
                {**final, **self._info()})

    def render(self) -> typing.Any:
        """Returns the n positions as texts or pictures, by render_mode."""
        if self.render_mode is None:
            return None
        if not hasattr(self._play, "turns"):
            raise reset_needed("render")
        return tuple(state.text if self.render_mode == "ansi"
                     else picture(state)
                     for state in _states(self._play.turns))

    def _info(self) -> Info:
        return {"action_mask": self._play.mask(),
                "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _final(self, done: NDArray[np.bool_]) -> Info:
        """Returns the entries of games that ended, in gymnasium's layout."""
        observations = np.full(self.num_envs, None, dtype=object)
        for game, seen in zip(np.flatnonzero(done),
                              self._play.observe_ends(done)):
            observations[game] = seen.copy()
        mask = np.zeros((self.num_envs, tara.NUM_ACTIONS), np.int8)
        return {"final_obs": observations, "_final_obs": done.copy(),
                "final_info": {"action_mask": mask,
                               "_action_mask": done.copy()},
                "_final_info": done.copy()}


def _register() -> None:
    for variant in tara.VARIANTS:
        name = "".join(word.capitalize() for word in variant.split("_"))
        gymnasium.register(f"tara/{name}-v0",
                           entry_point="tara.gym:TaraEnv",
                           vector_entry_point="tara.gym:TaraVectorEnv",
                           kwargs={"variant": variant})


_register()
