"""The exceptions leobench raises, all under `LeobenchError`."""


class LeobenchError(Exception):
    """Whatever leobench raises on purpose; its text is meant for the user."""


class InputError(LeobenchError):
    """What the user gave cannot be used: a scenario, an option, a folder. Exit code 2."""


class ScenarioError(InputError):
    """A scenario is wrong; the text names the file, the place in it, the value and what is allowed."""


class RunError(LeobenchError):
    """A run failed although its input was fine. Exit code 1."""
