"""The page of the Python API, which mkdocstrings fills when the site is built."""

from __future__ import annotations

import leobench
import leobench.gym
from tools.reference.markdown import joined, table


def python_page() -> str:
    """The page of the Python API, which mkdocstrings fills when the site is built."""
    groups: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": []}
    for name in sorted(leobench.__all__, key=str.lower):
        value = getattr(leobench, name)
        if isinstance(value, type):
            groups["Errors" if issubclass(value, Exception) else "Classes"].append(name)
        elif callable(value):
            groups["Functions"].append(name)
    blocks = [
        "# Python API",
        "The public names of the package `leobench`. The site shows the signature and documentation of each; "
        "`help(leobench.run)` prints the same. `leobench.quic` is the "
        "[QUIC stack for programs](../howto/quic-in-python.md).",
    ]
    for heading, names in groups.items():
        rows = [
            (f"[`{name}`](#{target(name)})", (getattr(leobench, name).__doc__ or "").partition("\n")[0])
            for name in names
        ]
        blocks += [
            f"## {heading}",
            table(["name", "purpose"], rows),
            *(f"::: {target(name)}" for name in names),
        ]
    return joined([*blocks, *training()])


def training() -> list[str]:
    """The environment for training, and the parts of an observation."""
    rows = [
        (f"`{name}`", unit, f"{low:g} to {high:g}")
        for name, (_, unit, (low, high)) in leobench.gym.OBSERVATIONS.items()
    ]
    return [
        "## Training",
        "`leobench.gym.CongestionEnv` is an environment of Gymnasium (`pip install 'leobench[gym]'`): "
        "`examples/train_policy.py` trains a policy by evolution, `examples/policy.py` is the controller "
        "with its weights, and `examples/train_with_sb3.py` uses Stable-Baselines3. A function as "
        "`overrides` draws another scenario for each episode from its seed; "
        "`gymnasium.vector.AsyncVectorEnv` spreads episodes over processes. With a step for each round trip "
        "at 45 Mbit/s, an episode takes 1/140 of its time, 2,800 steps a second "
        "(`python benchmarks/training.py`).",
        table(["part of an observation", "unit", "cut to"], rows),
        "::: leobench.gym.env.CongestionEnv",
    ]


def target(name: str) -> str:
    """The place of a public name's definition, from which mkdocstrings reads it."""
    return f"leobench.{leobench._MODULES[name]}.{name}"
