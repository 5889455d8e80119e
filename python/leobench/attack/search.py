"""The searches for the worst path: an evolution strategy, and random points to compare it with."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from leobench.attack import space
from leobench.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from leobench.attack.space import Kind, Path

    Points = Sequence[NDArray[np.float64]]
    Harms = Callable[[Sequence[Path]], list[float]]

# Points drawn before the strategy starts at the worst of them.
_OPENING = 160
# Points of a generation, and standard deviation of the first one in the unit cube.
_GENERATION, _SIGMA = 16, 0.25
# Streams of random numbers of one seed.
_ADAPTIVE, _RANDOM = 1, 2


@dataclass
class Budget:
    """The budget of a search: a number of evaluations, or seconds.

    Attributes:
        evaluations: The number.
        seconds: The time; looked at between generations.
        spent: Evaluations so far.
    """

    evaluations: int | None = None
    seconds: float | None = None
    spent: int = 0
    _started: float = field(default_factory=time.monotonic)

    def take(self, wanted: int) -> int:
        """How many of the wanted evaluations may be spent; they are."""
        if self.evaluations is not None:
            wanted = max(min(wanted, self.evaluations - self.spent), 0)
        elif self.seconds is not None and self.spent and time.monotonic() - self._started > self.seconds:
            return 0
        self.spent += wanted
        return wanted


@dataclass
class Worst:
    """The worst path of a search.

    Attributes:
        harm: Its harm.
        path: The path.
        evaluations: Evaluations of the search.
        curve: The worst harm so far, by the number of evaluations at which it rose.
    """

    harm: float = -math.inf
    path: Path | None = None
    evaluations: int = 0
    curve: list[tuple[int, float]] = field(default_factory=list)

    @property
    def found(self) -> tuple[Path, float]:
        """The worst path and its harm.

        Raises:
            ValueError: If nothing has been evaluated.
        """
        if self.path is None:
            raise ValueError("a search without evaluations has no worst path")
        return self.path, self.harm

    def add(self, paths: Sequence[Path], harms: Sequence[float]) -> None:
        """Takes in evaluated paths."""
        for path, harm in zip(paths, harms, strict=True):
            self.evaluations += 1
            if harm > self.harm:
                self.harm, self.path = harm, path
                self.curve.append((self.evaluations, harm))


def adaptive(
    kinds: Sequence[Kind], harms: Harms, seed: int, budget: Budget, report: Callable[[Worst], object]
) -> Worst:
    """Searches by CMA-ES from the worst of some random points, again from others when it has converged."""
    import numpy as np

    rng = np.random.default_rng([seed, _ADAPTIVE])
    worst, size = Worst(), len(space.genes(kinds))
    while True:
        points: list[NDArray[np.float64]] = []
        found: list[float] = []
        while count := budget.take(min(_GENERATION, _OPENING - len(points))):
            drawn = list(rng.random((count, size)))
            points += drawn
            found += _evaluate(drawn, kinds, harms, worst)
            report(worst)
        if not points:
            return worst
        start = points[max(range(len(points)), key=found.__getitem__)]
        for generation, tell in _strategy(start, rng, budget):
            tell(_evaluate(generation, kinds, harms, worst))
            report(worst)


def at_random(
    kinds: Sequence[Kind], harms: Harms, seed: int, count: int, report: Callable[[Worst], object]
) -> Worst:
    """Evaluates so many uniform points."""
    import numpy as np

    rng = np.random.default_rng([seed, _RANDOM])
    worst, size = Worst(), len(space.genes(kinds))
    while worst.evaluations < count:
        points = list(rng.random((min(_GENERATION, count - worst.evaluations), size)))
        _evaluate(points, kinds, harms, worst)
        report(worst)
    return worst


def _evaluate(points: Points, kinds: Sequence[Kind], harms: Harms, worst: Worst) -> list[float]:
    paths = [space.decode(list(map(float, point)), kinds) for point in points]
    found = harms(paths)
    worst.add(paths, found)
    return found


def _strategy(
    start: NDArray[np.float64], rng: np.random.Generator, budget: Budget
) -> Iterator[tuple[Points, Callable[[list[float]], None]]]:
    """Generations of CMA-ES from a point, each with the function that takes its harms."""
    cma = library()
    options = {
        "bounds": [0, 1],
        "popsize": _GENERATION,
        # Means of coordinates are learnt from some hundred evaluations, covariances are not.
        "CMA_diagonal": True,
        "randn": lambda *shape: rng.standard_normal(shape),
        "seed": math.nan,
        "verbose": -9,
        "tolfun": 1e-6,
    }
    strategy = cma.CMAEvolutionStrategy(start, _SIGMA, options)
    while not strategy.stop():
        if (given := budget.take(_GENERATION)) < _GENERATION:
            budget.spent -= given
            return
        points = strategy.ask()

        def tell(harms: list[float], points: Points = points) -> None:
            strategy.tell(points, [-harm for harm in harms])

        yield points, tell


def library() -> Any:
    """The library `cma`.

    Raises:
        InputError: If it is not installed.
    """
    try:
        import cma
    except ImportError:
        raise InputError(
            "attack: needs the library `cma`, which is not installed; `pip install 'leobench[attack]'`"
        ) from None
    return cma
