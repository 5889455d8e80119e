"""leobench: how will this transport behave over this satellite path, and why?

result = leobench.run("scenarios/khan2023-ka.toml", seed=3)
result.summary["flows"][0]["goodput_bps"]
result.tables.messages
"""

from typing import TYPE_CHECKING

from leobench.api import (
    check,
    describe,
    kinds,
    open,  # noqa: A004 (read as `leobench.open`)
    run,
    schema,
    survey,
    sweep,
)
from leobench.errors import InputError, LeobenchError, RunError, ScenarioError

if TYPE_CHECKING:
    from leobench._core import Stream
    from leobench.campaign import CampaignResult
    from leobench.result import Result, Tables
    from leobench.schedulers import StreamScheduler

    __version__: str

__all__ = [
    "CampaignResult",
    "InputError",
    "LeobenchError",
    "Result",
    "RunError",
    "ScenarioError",
    "Stream",
    "StreamScheduler",
    "Tables",
    "__version__",
    "check",
    "describe",
    "kinds",
    "open",
    "run",
    "schema",
    "survey",
    "sweep",
]


def __getattr__(name: str) -> object:
    if name in {"Result", "Tables"}:
        from leobench import result

        return getattr(result, name)
    if name == "CampaignResult":
        from leobench.campaign import CampaignResult

        return CampaignResult
    if name == "StreamScheduler":
        from leobench.schedulers import StreamScheduler

        return StreamScheduler
    if name in {"Stream", "__version__"}:
        from leobench import _core

        return getattr(_core, name)
    raise AttributeError(f"module 'leobench' has no attribute {name!r}")
