"""leobench: how will this transport behave over this satellite path, and why?

result = leobench.run("scenarios/khan2023-ka.toml", seed=3)
result.summary["flows"][0]["goodput_bps"]
result.tables.messages
"""

# Nothing is imported here: the program must have set its signals before the first import that takes time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from leobench._core import Backlog, Forecast, InterfaceForecast, PathView, Stream
    from leobench.api import (
        check,
        describe,
        kinds,
        open,  # noqa: A004 (read as `leobench.open`)
        run,
        schema,
        survey,
        sweep,
        why,
    )
    from leobench.attribution import Explanation
    from leobench.campaign import CampaignResult
    from leobench.errors import InputError, LeobenchError, RunError, ScenarioError
    from leobench.path_schedulers import PathScheduler
    from leobench.result import Result, Tables
    from leobench.schedulers import StreamScheduler

    __version__: str

__all__ = [
    "Backlog",
    "CampaignResult",
    "Explanation",
    "Forecast",
    "InputError",
    "InterfaceForecast",
    "LeobenchError",
    "PathScheduler",
    "PathView",
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
    "why",
]


# The module of each name.
_MODULES = {
    "CampaignResult": "campaign",
    "Explanation": "attribution",
    "PathScheduler": "path_schedulers",
    "Result": "result",
    "StreamScheduler": "schedulers",
    "Tables": "result",
    **dict.fromkeys(
        ("Backlog", "Forecast", "InterfaceForecast", "PathView", "Stream", "__version__"), "_core"
    ),
    **dict.fromkeys(("InputError", "LeobenchError", "RunError", "ScenarioError"), "errors"),
    **dict.fromkeys(("check", "describe", "kinds", "open", "run", "schema", "survey", "sweep", "why"), "api"),
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'leobench' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"leobench.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
