"""The environment: a run that stops after each step and goes on with an action."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from leobench.errors import InputError, allowed
from leobench.gym import measures
from leobench.gym.exchange import Asked, Ended, Exchange

try:
    import gymnasium
    from gymnasium import spaces
except ModuleNotFoundError:
    raise InputError("leobench.gym: needs gymnasium; install it by `pip install leobench[gym]`") from None

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from leobench.stepped import Step

    Overrides = Mapping[str, object]
    Observation = NDArray[np.float32]

# A step of the length of the smoothed round trip.
RTT = "rtt"

# The largest factor on the window of a single action.
_LARGEST_FACTOR = 1000.0


class CongestionEnv(gymnasium.Env["Observation", "NDArray[np.float32]"]):
    """The congestion control of a flow of a scenario, TCP or QUIC.

    An episode is a run. It begins when the flow has five packets acknowledged, with the initial window of
    RFC 9002. A step lasts until the first acknowledgement after its length; in an outage, it lasts longer. An
    action a from -1 to 1 multiplies the window by `factor` to the power of a. An observation has the numbers
    of `leobench.gym.OBSERVATIONS`, with their units there. The episode is terminated when the flow has
    delivered all, and truncated at the end of the run. Equal seeds and actions give equal episodes.

    `info` has the `leobench.Step`, and at the end the `summary` of the run.

    Attributes:
        overrides: Values to replace in the scenario, by place; or a function that draws them from a generator
            for each episode: a distribution over scenarios.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        scenario: str | Path,
        *,
        flow: str | None = None,
        step: float | str = RTT,
        factor: float = 2.0,
        reward: str | Callable[[Step], float] = "aurora",
        overrides: Overrides | Callable[[np.random.Generator], Overrides] | None = None,
    ) -> None:
        """Prepares episodes; `reset` starts one.

        Args:
            scenario: The scenario file.
            flow: The flow whose window is set; the first with a congestion controller unless given.
            step: Length of a step in seconds of virtual time, or "rtt".
            factor: Factor on the window of an action of 1.
            reward: "aurora", "delay", or a function of a `Step`.
            overrides: See above.

        Raises:
            InputError: If an argument is wrong.
        """
        self._file, self._flow = Path(scenario), flow
        self._step_s = _length(step)
        self._factor = _factor(factor)
        self._reward = _reward(reward)
        self.overrides = {} if overrides is None else overrides
        bounds = np.array([each[2] for each in measures.OBSERVATIONS.values()], dtype=np.float32)
        self.observation_space = spaces.Box(bounds[:, 0], bounds[:, 1], dtype=np.float32)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), dtype=np.float32)
        self._exchange: Exchange | None = None
        self._last: Step | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Starts an episode.

        Args:
            seed: The seed of the run and its overrides follow from it.
            options: `{"seed": 7}` is the seed of the run itself, as for `leobench.run`.

        Raises:
            InputError: If there are other options.
            ScenarioError: If the scenario with its overrides is wrong.
            RunError: If the run fails, or ends before the first step.
        """
        from leobench import engine
        from leobench.errors import RunError

        given = dict(options or {})
        run_seed = given.pop("seed", None)
        if given:
            raise InputError(f"reset: the option {next(iter(given))!r} is unknown; allowed: 'seed'")
        super().reset(seed=seed)
        self.close()
        exchange = Exchange()
        try:
            scenario = self._scenario(exchange.number, run_seed)
            exchange.start(lambda: engine.run(scenario, engine.Recording()))
        except BaseException:
            exchange.close()
            raise
        self._exchange = exchange
        said = exchange.wait()
        if isinstance(said, Ended):
            self.close()
            if said.error is not None:
                raise said.error
            raise RunError(f"{self._file}: the run ended before the first step; allowed: a longer one")
        self._last = said.step
        return measures.observed(said.step), {"step": said.step}

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Multiplies the window, and goes on for a step.

        Raises:
            InputError: If there is no episode, or the action is none.
            RunError: If the run fails.
        """
        exchange, last = self._exchange, self._last
        if exchange is None or last is None:
            raise InputError("step: there is no episode; allowed: `reset` first")
        value = float(np.asarray(action, dtype=np.float64).reshape(-1)[0])
        if not -1.0 <= value <= 1.0:
            raise InputError(f"step: the action {value:g} is out of range; allowed: from -1 to 1")
        exchange.act(self._factor**value)
        said = exchange.wait()
        if isinstance(said, Asked):
            self._last = said.step
            reward = float(self._reward(said.step))
            return measures.observed(said.step), reward, False, False, {"step": said.step}
        self.close()
        if said.error is not None:
            raise said.error
        summary = json.loads(said.outcome.summary)
        whole = summary["flows"][self._index]["undelivered_messages"] == 0
        info = {"step": last, "summary": summary}
        return measures.observed(last), 0.0, whole, not whole, info

    def close(self) -> None:
        """Ends the episode."""
        exchange, self._exchange, self._last = self._exchange, None, None
        if exchange is not None:
            exchange.close()

    def _scenario(self, number: int, run_seed: int | None) -> Any:
        from leobench import engine
        from leobench.scenario import load

        drawn = self.overrides(self.np_random) if callable(self.overrides) else self.overrides
        drawn_seed = int(self.np_random.integers(1, 2**31))
        seed = drawn_seed if run_seed is None else run_seed
        quiet = [("record.series", False), ("record.messages", False)]
        changes = [*drawn.items(), *quiet]
        loaded = load(self._file, seed, changes)
        if loaded.engine == engine.REAL:
            raise InputError(f"{self._file}: runs in real time; allowed: a scenario in virtual time")
        flows = json.loads(loaded.to_json())["flows"]
        able = [name for name, each in flows.items() if "congestion" in each["transport"]]
        if self._flow is not None and self._flow not in able:
            raise InputError(f"flow {self._flow}: has no congestion controller; {allowed(self._flow, able)}")
        if not able:
            raise InputError(f"{self._file}: has no flow with a congestion controller")
        chosen = self._flow or able[0]
        self._index = list(flows).index(chosen)
        agent = {
            "python": "leobench.gym.agent:Agent",
            "parameters": {"number": number, "step_s": self._step_s},
        }
        return load(self._file, seed, [*changes, (f"flows.{chosen}.transport.congestion", agent)])


def _length(step: float | str) -> float:
    """Seconds of a step; 0 for a round trip."""
    if step == RTT:
        return 0.0
    if isinstance(step, (int, float)) and 1e-4 <= step <= 1e3:
        return float(step)
    raise InputError(
        f'step = {step!r}: is no length of a step; allowed: "rtt", or seconds from 0.0001 to 1,000'
    )


def _factor(factor: object) -> float:
    if isinstance(factor, (int, float)) and 1.0 < factor <= _LARGEST_FACTOR:
        return float(factor)
    raise InputError(
        f"factor = {factor!r}: is no factor of an action; allowed: above 1, up to {_LARGEST_FACTOR:,.0f}"
    )


def _reward(reward: str | Callable[[Step], float]) -> Callable[[Step], float]:
    if callable(reward):
        return reward
    if reward not in measures.REWARDS:
        raise InputError(f"reward = {reward!r}: is unknown; {allowed(reward, measures.REWARDS)}")
    return measures.REWARDS[reward]
