"""leobench: how will this transport behave over this satellite path, and why?

result = leobench.run("scenarios/khan2023-ka.toml", seed=3)
result.flows["main"].goodput_bps
result.tables.messages
"""

# Nothing is imported here: the program must have set its signals before the first import that takes time.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from leobench._core import (
        Acknowledgement,
        Backlog,
        CongestionEvent,
        Download,
        Forecast,
        InterfaceForecast,
        PathView,
        PlayerView,
        Stream,
    )
    from leobench.adaptation import Adaptation
    from leobench.api import (
        check,
        describe,
        emulate,
        kinds,
        open,  # noqa: A004 (read as `leobench.open`)
        reproduce,
        run,
        schema,
        summary_schema,
        survey,
        sweep,
        why,
    )
    from leobench.attribution import Explanation
    from leobench.campaign import CampaignResult
    from leobench.congestion import CongestionController
    from leobench.emulation.outcome import Emulation
    from leobench.errors import InputError, LeobenchError, RunError, ScenarioError, UnknownNameError
    from leobench.papers import Reproduction
    from leobench.path_schedulers import PathScheduler
    from leobench.result import Result, Tables
    from leobench.schedulers import StreamScheduler
    from leobench.stepped import Step, SteppedController
    from leobench.summary import FlowSummary, LinkSummary, StreamSummary, Summary

    __version__: str

__all__ = [
    "Acknowledgement",
    "Adaptation",
    "Backlog",
    "CampaignResult",
    "CongestionController",
    "CongestionEvent",
    "Download",
    "Emulation",
    "Explanation",
    "FlowSummary",
    "Forecast",
    "InputError",
    "InterfaceForecast",
    "LeobenchError",
    "LinkSummary",
    "PathScheduler",
    "PathView",
    "PlayerView",
    "Reproduction",
    "Result",
    "RunError",
    "ScenarioError",
    "Step",
    "SteppedController",
    "Stream",
    "StreamScheduler",
    "StreamSummary",
    "Summary",
    "Tables",
    "UnknownNameError",
    "__version__",
    "check",
    "describe",
    "emulate",
    "kinds",
    "open",
    "reproduce",
    "run",
    "schema",
    "summary_schema",
    "survey",
    "sweep",
    "why",
]


# The module of each name.
_MODULES = {
    "Adaptation": "adaptation",
    "CampaignResult": "campaign",
    "CongestionController": "congestion",
    "Emulation": "emulation.outcome",
    "Explanation": "attribution",
    "PathScheduler": "path_schedulers",
    "Reproduction": "papers",
    "Result": "result",
    "Step": "stepped",
    "SteppedController": "stepped",
    "StreamScheduler": "schedulers",
    "Tables": "result",
    **dict.fromkeys(
        (
            "Acknowledgement",
            "Backlog",
            "CongestionEvent",
            "Download",
            "Forecast",
            "InterfaceForecast",
            "PathView",
            "PlayerView",
            "Stream",
            "__version__",
        ),
        "_core",
    ),
    **dict.fromkeys(
        ("InputError", "LeobenchError", "RunError", "ScenarioError", "UnknownNameError"), "errors"
    ),
    **dict.fromkeys(("FlowSummary", "LinkSummary", "StreamSummary", "Summary"), "summary"),
    **dict.fromkeys(
        (
            "check",
            "describe",
            "emulate",
            "kinds",
            "open",
            "reproduce",
            "run",
            "schema",
            "summary_schema",
            "survey",
            "sweep",
            "why",
        ),
        "api",
    ),
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'leobench' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"leobench.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
