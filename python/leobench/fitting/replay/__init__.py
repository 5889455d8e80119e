"""Counterfactual replay: another controller, source or queue over the path of a recorded transfer.

`recordings` reads a recording as a `Transfer`: what its sender sent, what was acknowledged, and lost.
`observe` turns it into `Observations` per 100 ms. `filter` holds the particle filter and backward sampling
under a `Prior`, `posterior.infer` chooses the prior, the queue and the losses: a `Posterior` of joint draws.
`world` writes each draw as a path of a scenario, `runs` executes the scenario over them, and `outcome` takes
intervals.

Veritas (SIGCOMM 2023) infers the capacity behind video sessions in the same way, by a hidden Markov model
with TCP's state as control; CellReplay (NSDI 2025) combines recordings under light and heavy load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leobench.errors import InputError, positive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from leobench.fitting.replay.outcome import Outcome


def replay(  # noqa: PLR0913 (every option, by name)
    recording: Path,
    changes: Sequence[tuple[str, object]],
    out: Path,
    *,
    fit: Path | None = None,
    direction: str = "downlink",
    light: Path | None = None,
    flow: str | None = None,
    draws: int = 50,
    seed: int = 1,
    queue: float | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
    report: Callable[[str], object] = lambda _step: None,
) -> Outcome:
    """Infers the path of a recorded transfer, and runs a changed scenario over draws of it.

    Args:
        recording: The recording; see `recordings.read`.
        changes: Values to replace in the scenario of the replay, by place.
        out: Folder to write to.
        fit: A fit whose processes are the prior.
        direction: The direction of the fit that the transfer took.
        light: A recording of round trips of a light flow at the same time.
        flow: The flow of a result folder.
        draws: The number of paths.
        seed: Of the inference.
        queue: Bytes that the queue holds.
        workers: The number of processes; one per processor unless given.
        force: Whether to replace a replay in `out`.
        progress: Called with the number of finished runs and that of all.
        report: Called with the step of the inference.

    Raises:
        InputError: If the recording, the fit or a change is wrong, or `out` cannot be written to.
        RunError: If a run fails.
    """
    from leobench import folder
    from leobench.fitting import fit_files
    from leobench.fitting.replay import outcome, posterior, prior, recordings, runs, world

    if positive("--draws", draws) > _MOST_DRAWS:
        raise InputError(f"--draws = {draws}: are too many; allowed: up to {_MOST_DRAWS}")
    if draws < outcome.FEWEST_DRAWS:
        raise InputError(
            f"--draws = {draws}: are too few; allowed: from {outcome.FEWEST_DRAWS}, whose least and greatest "
            "are the ends of an interval of 90 %"
        )
    outcome.refuse_existing(out, force=force)
    found = None if fit is None else prior.of_fit(fit_files.read(fit), direction)
    transfer = recordings.read(recording, flow)
    posterior.check(transfer)
    runs.check(transfer, changes)
    beside = None if light is None else recordings.read_light(light, transfer)
    path = posterior.infer(transfer, found, beside, draws, seed, queue, report)
    with folder.writing(out, force=force, ours=outcome.is_ours) as partial:
        file = world.write(path, partial)
        chosen = runs.cases(draws, changed=bool(changes))
        done = outcome.Outcome(path, changes, runs.run(file, chosen, changes, workers, progress))
        outcome.write(done, partial)
    return done


_MOST_DRAWS = 1000
