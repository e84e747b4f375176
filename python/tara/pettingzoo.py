"""Tara for PettingZoo: turn-based environments (AEC) for all variants.

    from tara import pettingzoo

    env = pettingzoo.env("four_treasures")
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        if termination or truncation:
            action = None
        else:
            action = env.action_space(agent).sample(info["action_mask"])
        env.step(action)

Agents are the seats, "seat_0" to "seat_3". A seat can have several turns in a
row. Requires the package pettingzoo.
"""

import typing
from typing import Dict, List, Optional

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv  # type: ignore[import-untyped]

import tara
from tara.gym import (check_render_mode, ends, observation_space,
                      reset_needed)

__all__ = ["TaraEnv", "env"]


def env(variant: str, options: str = "-",
        render_mode: Optional[str] = None) -> "TaraEnv":
    """Returns an environment of the variant.

    options: rule options as in tara.State. render_mode: "ansi", or None.
    Raises ValueError for an unknown variant or option.
    """
    return TaraEnv(variant, options, render_mode)


class TaraEnv(AECEnv):  # type: ignore[misc]
    """A game, as created by `env`.

    An observation is float32 [NUM_PLANES + NUM_GLOBALS, 7, 7]. The position is
    transformed so that the seat to move is seat 0, and each global is one
    plane. At the end, the observation is the final position as seen from the
    agent's own seat, without a phase. infos[agent]["action_mask"] is int8
    [NUM_ACTIONS]. For the seat to move, it marks the legal actions in the
    transformed position, as `step` takes them. It is all zeros for the other
    seats, and at the end.

    Rewards come at the end: 1 for each seat of the winning side, -1 for the
    others, 0 for a draw.
    """

    metadata = {"render_modes": ["ansi"], "name": "tara_v0",
                "is_parallelizable": False}

    agent_selection: str
    _seen: NDArray[np.float32]  # [1, ...], at the end [seats, ...]

    def __init__(self, variant: str, options: str = "-",
                 render_mode: Optional[str] = None) -> None:
        super().__init__()
        check_render_mode(render_mode)
        self.variant = variant
        self.options = options
        self.render_mode = render_mode
        seats = tara.State(variant, options).seats
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        observations = observation_space()
        self.observation_spaces = {agent: observations
                                   for agent in self.possible_agents}
        self.action_spaces = {agent: gymnasium.spaces.Discrete(tara.NUM_ACTIONS)
                              for agent in self.possible_agents}

    def observation_space(
            self, agent: str) -> gymnasium.spaces.Space[typing.Any]:
        """Returns the observation space, the same for all agents."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[typing.Any]:
        """Returns the action space: a Discrete with NUM_ACTIONS values."""
        return self.action_spaces[agent]

    def reset(self, seed: Optional[int] = None,
              options: Optional[Dict[str, typing.Any]] = None) -> None:
        """Starts a game.

        seed: seed of the samples of the action spaces. Nothing else is random.
        options: ignored.
        """
        if seed is not None:
            for seat, agent in enumerate(self.possible_agents):
                self.action_spaces[agent].seed(
                    seed * len(self.possible_agents) + seat)
        self._game = tara.Games(self.variant, 1, options=self.options)
        self.agents: List[str] = self.possible_agents[:]
        self.rewards = {agent: 0.0 for agent in self.agents}
        self._cumulative_rewards = {agent: 0.0 for agent in self.agents}
        self.terminations = {agent: False for agent in self.agents}
        self.truncations = {agent: False for agent in self.agents}
        self._begin_turn()

    def observe(self, agent: str) -> NDArray[np.float32]:
        """Returns the observation of the seat to move for any agent; at the
        end, that of the given agent."""
        self._check_game("observe")
        if agent not in self.possible_agents:
            raise KeyError(f"agent: {agent!r}; expected one of "
                           f"{self.possible_agents}")
        seat = self.possible_agents.index(agent)
        view: NDArray[np.float32] = self._seen[seat % len(self._seen)].copy()
        return view

    def step(self, action: Optional[int]) -> None:
        """Plays an action of the seat to move, as its observation shows it.

        Raises ValueError for an illegal action, which changes nothing.
        """
        self._check_game("step")
        if not self.agents:
            raise reset_needed("step")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        step = self._game.step(np.array([action]), seen=True)
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if step.done[0]:
            self._last = tara.State.from_bytes(step.final[0].tobytes())
            for seat, each in enumerate(self.possible_agents):
                self.rewards[each] = float(step.reward[0, seat % 2])
                self.terminations[each] = True
            seats = range(len(self.possible_agents))
            self._seen = ends([self._last] * len(seats), seats)
            self._set_masks()
        else:
            self._begin_turn()
        self._accumulate_rewards()

    def render(self) -> Optional[str]:
        """Returns the position as text if render_mode is "ansi"."""
        self._check_game("render")
        return self._last.text if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Does nothing; environments hold no resources."""

    def _check_game(self, what: str) -> None:
        if not hasattr(self, "_game"):
            raise reset_needed(what)

    def _begin_turn(self) -> None:
        self._last = tara.State.from_bytes(self._game.states[0].tobytes())
        mover = self.possible_agents[int(self._game.seat[0])]
        self.agent_selection = mover
        self._seen = self._game.observe().as_planes()
        self._set_masks()
        mask = self._game.legal_mask(seen=True)[0]
        self.infos[mover]["action_mask"][:] = mask

    def _set_masks(self) -> None:
        """Sets all masks to zeros."""
        self.infos: Dict[str, Dict[str, typing.Any]] = {
            agent: {"action_mask": np.zeros(tara.NUM_ACTIONS, np.int8)}
            for agent in self.possible_agents}
