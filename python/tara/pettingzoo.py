"""Tara for PettingZoo: turn-based environments (AEC) for all variants.

    from tara import pettingzoo

    env = pettingzoo.env("four_treasures")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            mask = observation["action_mask"]
            action = env.action_space(agent).sample(mask)
        env.step(action)

Agents are the seats, "seat_0" to "seat_3". A seat can have several turns in a
row. Requires the package pettingzoo.
"""

import operator
from typing import Any, Dict, List, Optional, Union

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]

import tara
from tara._types import _Options
from tara.gym import check_modes, observation_space, picture, reset_needed

__all__ = ["TaraEnv", "env", "raw_env"]
_Observation = Union[NDArray[np.float32], Dict[str, NDArray[Any]]]


def env(variant: str, options: _Options = "-",
        render_mode: Optional[str] = None, mask: str = "observation"
        ) -> "TaraEnv":
    """Returns an environment of the variant, in which an illegal action loses.

    options: rule options as in tara.State. render_mode: "ansi", "rgb_array" or
    None. mask: where masks of legal actions are: in the "observation", a dict,
    and in infos, or only in "info". Raises ValueError for an unknown variant,
    option, mode or mask.
    """
    return TaraEnv(variant, options, render_mode, mask, "lose")


def raw_env(variant: str, options: _Options = "-",
            render_mode: Optional[str] = None, mask: str = "observation"
            ) -> "TaraEnv":
    """Returns the same environment as `env`, but an illegal action raises
    ValueError and changes nothing."""
    return TaraEnv(variant, options, render_mode, mask, "raise")


class TaraEnv(AECEnv):  # type: ignore[misc]
    """A game, as created by `env`.

    An observation is a dict. observation["observation"] is float32 [NUM_PLANES
    + NUM_GLOBALS, 7, 7]. The position is transformed so that the seat to move
    is seat 0, and each global is one plane. At the end, it is the final
    position as seen from the agent's own seat, without a phase.
    observation["action_mask"] is int8 [NUM_ACTIONS]. For the seat to move, it
    marks the legal actions in the transformed position, as `step` takes them.
    It is all zeros for the other seats, and at the end.
    infos[agent]["action_mask"] is the same mask. With mask="info", the
    observation is the array alone.

    Rewards come at the end: 1 for each seat of the winning side, -1 for the
    others, 0 for a draw. With illegal="lose", the side that plays an illegal
    action loses, and infos[agent]["illegal"] is True for its seat; with
    "raise", ValueError is raised and nothing changes.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "name": "tara_v1",
                "is_parallelizable": False}

    agent_selection: str
    _state: tara.State

    def __init__(self, variant: str, options: _Options = "-",
                 render_mode: Optional[str] = None, mask: str = "observation",
                 illegal: str = "raise") -> None:
        super().__init__()
        check_modes(render_mode, illegal)
        if mask not in ("observation", "info"):
            raise ValueError(f"mask: {mask!r}; expected 'observation' or "
                             "'info'")
        self._in_observation = mask == "observation"
        self._illegal = illegal
        self.variant = variant
        self.options = options
        self.render_mode = render_mode
        self._start = tara.State(variant, options)
        self.possible_agents = [f"seat_{seat}"
                                for seat in range(self._start.seats)]
        observations: gymnasium.spaces.Space[Any] = observation_space()
        self.state_space = observations
        if self._in_observation:
            observations = gymnasium.spaces.Dict({
                "observation": observations,
                "action_mask": gymnasium.spaces.Box(
                    0, 1, (tara.NUM_ACTIONS,), np.int8)})
        self.observation_spaces = {agent: observations
                                   for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(tara.NUM_ACTIONS)
                              for agent in self.possible_agents}

    def observation_space(
            self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Returns the observation space, the same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Returns the action space: a Discrete with NUM_ACTIONS values."""
        return self.action_spaces[agent]

    def reset(self, seed: Optional[int] = None,
              options: Optional[Dict[str, Any]] = None) -> None:
        """Starts a game.

        seed: seed of the samples of the action spaces. Nothing else is random.
        options: ignored.
        """
        if seed is not None:
            for seat, agent in enumerate(self.possible_agents):
                self.action_spaces[agent].seed(
                    seed * len(self.possible_agents) + seat)
        self.agents: List[str] = self.possible_agents[:]
        self.rewards = {agent: 0.0 for agent in self.agents}
        self._cumulative_rewards = {agent: 0.0 for agent in self.agents}
        self.terminations = {agent: False for agent in self.agents}
        self.truncations = {agent: False for agent in self.agents}
        self._set(self._start)

    def observe(self, agent: str) -> _Observation:
        """Returns the observation of the seat to move for any agent, with the
        agent's mask; at the end, that of the given agent."""
        self._check_game("observe")
        if agent not in self.possible_agents:
            raise KeyError(f"agent: {agent!r}; expected one of "
                           f"{self.possible_agents}")
        seat = self.possible_agents.index(agent)
        view = self._view(seat)
        if not self._in_observation:
            return view
        return {"observation": view, "action_mask": self._mask(seat)}

    def state(self) -> NDArray[np.float32]:
        """Returns the position as the seat to move sees it, or at the end
        seat 0: float32 [NUM_PLANES + NUM_GLOBALS, 7, 7]."""
        self._check_game("state")
        return self._view(0)

    def step(self, action: Optional[int]) -> None:
        """Plays an action of the seat to move, as its observation shows it.

        Raises ValueError for an illegal action with illegal="raise", and for an
        index outside the action space; nothing changes then.
        """
        self._check_game("step")
        if not self.agents:
            raise reset_needed("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        mover = self.possible_agents.index(agent)
        after = self._state
        try:
            given: Any = action
            after = after.play(given, seen=True)
            lost = False
        except ValueError:
            if (self._illegal == "raise"
                    or not 0 <= operator.index(given) < tara.NUM_ACTIONS):
                raise
            lost = True
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        outcome = after.outcome
        if lost or outcome is not None:
            winner = 1 - mover % 2 if outcome is None else outcome.winner
            for seat, each in enumerate(self.possible_agents):
                self.rewards[each] = (0.0 if winner is None else
                                      1.0 if seat % 2 == winner else -1.0)
                self.terminations[each] = True
        self._set(after)
        if lost:
            self.infos[agent]["illegal"] = True
        self._accumulate_rewards()

    def render(self) -> Union[str, NDArray[np.uint8], None]:
        """Returns the position as text or picture, by render_mode."""
        self._check_game("render")
        if self.render_mode is None:
            return None
        return (self._state.text if self.render_mode == "ansi"
                else picture(self._state))

    def close(self) -> None:
        """Does nothing; environments hold no resources."""

    def _check_game(self, what: str) -> None:
        if not hasattr(self, "_state"):
            raise reset_needed(what)

    def _set(self, state: tara.State) -> None:
        self._state = state
        if not any(self.terminations.values()):
            self.agent_selection = self.possible_agents[state.seat or 0]
        self.infos: Dict[str, Dict[str, Any]] = {
            agent: {"action_mask": self._mask(seat)}
            for seat, agent in enumerate(self.possible_agents)}

    def _view(self, seat: int) -> NDArray[np.float32]:
        views = tara.encode([self._state], seats=[seat]).as_planes()
        view: NDArray[np.float32] = views[0]
        return view

    def _mask(self, seat: int) -> NDArray[np.int8]:
        mask = np.zeros(tara.NUM_ACTIONS, np.int8)
        if seat == self._state.seat and not any(self.terminations.values()):
            mask[self._state.legal(seen=True)] = 1
        return mask
