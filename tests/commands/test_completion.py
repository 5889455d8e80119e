"""Completion in shells, asked of the shells themselves."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from leobench import cli
from leobench.cli.completion import SHELLS

if TYPE_CHECKING:
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]

# Completes the words of a command line, the last of which is being typed, as bash does.
BASH = """
source {script}
COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}
complete -p leobench | sed -n 's/.*-F \\([^ ]*\\) .*/\\1/p' > {script}.name
"$(cat {script}.name)" leobench "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""

LINES = {
    "leobench sw": {"sweep"},
    "leobench new starlink-s": {"starlink-seattle", "starlink-sites"},
    "leobench new khan2023/fig5-n": {"khan2023/fig5-newreno"},
    "leobench run --qlo": {"--qlog"},
    "leobench list chan": {"channels"},
    "leobench reproduce khan2023delay/fig7": {"khan2023delay/fig7"},
}


def shell(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    from contextlib import redirect_stdout

    for name in SHELLS:
        with (folder / name).open("w") as file, redirect_stdout(file):
            assert cli.main(["completion", name]) == 0
    return folder


@pytest.mark.parametrize("line", LINES)
def test_bash_completes(line: str, scripts: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    told = shell("bash", "-c", BASH.format(script=scripts / "bash", line=line))
    assert {word.strip() for word in told.splitlines()} == LINES[line]


@pytest.mark.parametrize("line", LINES)
def test_fish_completes(line: str, scripts: Path) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    told = shell("fish", "--no-config", "-c", f"source {scripts / 'fish'}; complete -C '{line}'")
    assert {word.partition("\t")[0] for word in told.splitlines()} == LINES[line]


def test_zsh_reads_the_script(scripts: Path) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    shell("zsh", "-n", str(scripts / "zsh"))


def test_an_unknown_shell_is_refused(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as exit_:
        cli.main(["completion", "fsh"])
    assert exit_.value.code == 2
    assert "did you mean `fish`?" in capsys.readouterr().err
