"""Tara for Gymnasium: one side of a game against an opponent.

    import gymnasium
    import tara.gym

    env = gymnasium.make("tara/FourTreasures-v0", opponent="mcts:sims=100")
    observation, info = env.reset(seed=1)
    action = env.action_space.sample(info["action_mask"])
    observation, reward, terminated, truncated, info = env.step(action)

There is an environment for each variant, "tara/SacredHillL1-v0" to
"tara/StoneOfDestiny-v0". Needs the package gymnasium. Many games at a time:
tara.Games.
"""

import typing
from typing import Dict, Optional, Tuple

import gymnasium
import numpy as np
from numpy.typing import NDArray

import tara

# No input is further from 0, whatever the rule options.
BOUND = 8.0
"""Observations are numbers from -BOUND to BOUND."""
OBSERVATION_SHAPE = (tara.NUM_PLANES + tara.NUM_GLOBALS, 7, 7)
"""Of an observation: planes, then globals, each as a plane of its own."""


def observation_of(games: tara.Games) -> NDArray[np.float32]:
    """Returns the only game's features as one array, OBSERVATION_SHAPE.

    Each global is a plane of its own.
    """
    planes, of_all = games.observe()
    wide = np.broadcast_to(of_all[0][:, None, None],
                           (tara.NUM_GLOBALS, 7, 7))
    seen: NDArray[np.float32] = np.concatenate([planes[0], wide])
    return seen


def observation_space() -> gymnasium.spaces.Box:
    """Returns the space that observation_of is in."""
    return gymnasium.spaces.Box(-BOUND, BOUND, OBSERVATION_SHAPE, np.float32)


def check_render_mode(render_mode: Optional[str]) -> None:
    """Raises ValueError for what no environment of Tara has."""
    if render_mode not in (None, "ansi"):
        raise ValueError(
            f"render_mode: {render_mode!r}; expected 'ansi' or None")


class TaraEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A game against an opponent; in pairs one plays both seats of a side.

    Observations are float32 OBSERVATION_SHAPE: the position turned so that the
    seat to move is seat 0, at the end that of one's last turn. Actions are
    those of it; info["action_mask"] is int8 [NUM_ACTIONS], 1 where one is
    legal. An illegal one raises ValueError, and changes nothing. The reward is
    at the end: 1 won, -1 lost, 0 drawn.

    opponent: "random", "mcts:OPTIONS" (random games), "best:OPTIONS" or
    "net:PATH,OPTIONS", with options as tara.search takes them ("sims=100").
    side: 0 Red, 1 Blue, None drawn in each reset. options: rule options.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}
    _games: tara.Games
    _side: int
    _last: tara.State
    _seen: NDArray[np.float32]
    _mask: NDArray[np.int8]

    def __init__(self, variant: str, opponent: str = "random",
                 side: Optional[int] = None, options: str = "-",
                 render_mode: Optional[str] = None) -> None:
        tara.State(variant, options)  # raises for what is wrong
        if side not in (None, 0, 1):
            raise ValueError(f"side: {side!r}; expected 0, 1 or None")
        check_render_mode(render_mode)
        self.variant = variant
        self.options = options
        self.render_mode = render_mode
        self._wanted_side = side
        kind, _, rest = opponent.partition(":")
        path = ""
        if kind == "net":
            path, _, rest = rest.partition(",")
        if kind not in ("random", "mcts", "best", "net") or (
                kind == "net" and not path):
            raise ValueError(
                f"opponent: {opponent!r}; expected 'random', 'mcts:sims=100', "
                "'best:sims=100' or 'net:PATH,sims=100'")
        self._search_options = rest
        self._judge: typing.Any = "playouts"
        if kind in ("best", "net"):
            self._judge = tara.load(path or "best")
        self._is_random = kind == "random"
        if not self._is_random:
            tara.search([], self._judge, options=rest)  # names wrong options
        self.observation_space = observation_space()
        self.action_space = gymnasium.spaces.Discrete(tara.NUM_ACTIONS)

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Dict[str, typing.Any]] = None
              ) -> Tuple[NDArray[np.float32], Dict[str, typing.Any]]:
        """Begins a game and plays up to one's turn; returns observation, info.

        seed: of the side, the opponent's draws and its searches, from here on.
        options: none.
        """
        super().reset(seed=seed)
        while True:  # an opponent alone could in theory end a game
            self._games = tara.Games(self.variant, 1, options=self.options)
            self._side = (int(self.np_random.integers(2))
                          if self._wanted_side is None else self._wanted_side)
            if self._opponents_turns() is None:
                self._begin_turn()
                return self._seen, {"action_mask": self._mask}

    def step(self, action: np.int64
             ) -> Tuple[NDArray[np.float32], float, bool, bool,
                        Dict[str, typing.Any]]:
        """Plays an action, then the opponent's, up to one's next turn.

        Returns observation, reward, terminated, truncated (False) and info.
        """
        step: Optional[tara.Step] = self._games.step(np.array([action]),
                                                     seen=True)
        assert step is not None
        if not step.done[0]:
            step = self._opponents_turns()
        if step is None:
            self._begin_turn()
            return self._seen, 0.0, False, False, {"action_mask": self._mask}
        self._last = tara.State.from_bytes(step.final[0].tobytes())
        reward = float(step.reward[0, self._side])
        return self._seen, reward, True, False, {"action_mask": self._mask}

    def render(self) -> typing.Any:
        """Returns the position as text, with render_mode "ansi"."""
        return self._last.text if self.render_mode == "ansi" else None

    def _opponents_turns(self) -> Optional[tara.Step]:
        """Plays until it is one's turn; returns the step that ends the game."""
        while self._games.seat[0] % 2 != self._side:
            if self._is_random:
                mask = self._games.legal_mask()[0]
                action = int(self.np_random.choice(np.flatnonzero(mask)))
            else:
                seed = int(self.np_random.integers(1 << 62))
                analysis, = tara.search(self._games.states.copy(), self._judge,
                                        options=self._search_options,
                                        seed=seed)
                action = analysis.action
            step = self._games.step(np.array([action]))
            if step.done[0]:
                return step
        return None

    def _begin_turn(self) -> None:
        self._last = tara.State.from_bytes(self._games.states[0].tobytes())
        self._seen = observation_of(self._games)
        mask = self._games.legal_mask(seen=True)[0]
        self._mask = mask.astype(np.int8)


def _register() -> None:
    for variant in tara.VARIANTS:
        name = "".join(word.capitalize() for word in variant.split("_"))
        gymnasium.register(f"tara/{name}-v0",
                           entry_point="tara.gym:TaraEnv",
                           kwargs={"variant": variant})


_register()
