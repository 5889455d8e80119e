"""Runs `leobench record` on measurements that were tampered with, and reports what must not happen.

    python tools/mutate/recordings.py --count 500 --seed 1

Each file is a valid one of a random format (`tests/recording/measurements.py`) with up to three mutations:
bytes, tokens and numbers replaced by hostile ones, lines dropped, doubled, moved or cut. The command must
either succeed and write a table that a scenario can use, or refuse with exit code 2 and one line, and leave
nothing behind.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import leobench
from leobench import cli

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.recording.measurements import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# Seconds for one file.
_LIMIT_S = 5
_MEMORY = 3_000_000_000

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e\d+)?")
_TOKEN = re.compile(r"[A-Za-z_]+|[^\sA-Za-z_]")
_HOSTILE = (
    "0", "-0", "-1", "-30", "7", "nan", "NaN", "inf", "-Infinity", "1e400", "1e308", "-1e15", "1e15",
    "1e-400", "99999999999", "65535", "65536", "4294967296", "1694477135", "1694477135683", "169447",
    "1" * 5000, "0x10", "1_000", "1.2.3", "\u0663", "null", "true", '"x"', "",
    "[]", "{}", "2023-09-12T00:05:35", "0001-01-01",
)  # fmt: skip
_STRANGE = (
    "\0",
    "\ufeff",
    "\r",
    "\x1e",
    '"',
    ",",
    ";",
    "[" * 100_000,
    "{" * 5_000,
    "\u2028",
    "é",
    "(DUP!)",
    "PING ",
)

SCENARIO = """\
name = "recorded"
duration = "1 s"
nodes = {{ a = {{}}, b = {{}} }}
[links.l]
between = ["a", "b"]
delay = "10 ms"
queue = {{ kind = "fifo", limit = "1.5 BDP" }}
{channel}
[flows.f]
transport = "udp"
from = "a"
to = "b"
source = {{ kind = "cbr", rate = "1 kbps", size = "100 B" }}
"""


def main() -> int:
    """Tries as many files as asked for, and prints what is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=500, help="number of files (default: 500)")
    parser.add_argument("--seed", type=int, default=1, help="root of all randomness (default: 1)")
    parser.add_argument("--keep", type=Path, help="folder for the files that showed something")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    codes: Counter[int] = Counter()
    found = violations(args.count, args.seed, args.keep, codes)
    print(
        "\n".join(
            [*found, f"{args.count} files: {codes[0]} read, {codes[2]} refused, {len(found)} violations"]
        )
    )
    return int(bool(found))


def violations(
    count: int, seed: int, keep: Path | None = None, codes: Counter[int] | None = None
) -> list[str]:
    """Describes each fault found with `count` random files.

    Args:
        count: The number of files.
        seed: The root of all randomness.
        keep: A folder for the files that showed something.
        codes: Counts the exit codes.
    """
    found = []
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(Path(folder), random.Random(f"{seed}/{number}"))
            problem = trial.problem()
            if codes is not None:
                codes[trial.code] += 1
            if problem:
                found.append(f"seed {seed}, file {number}: {' '.join(trial.words)}: {problem}")
                if keep:
                    shutil.copytree(folder, keep / f"{seed}-{number}", dirs_exist_ok=True)
    return found


class Trial:
    """A tampered file, and what became of it."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self.code = -1
        kind = rng.choice(list(SAMPLES))
        (folder / "measured").write_bytes(_tampered(SAMPLES[kind], rng))
        self.words = ["record", "measured", "--out", "out.csv", *_options(kind, rng)]

    def problem(self) -> str | None:
        """Runs the command and describes its fault; `None` without one."""
        said, told = io.StringIO(), io.StringIO()
        try:
            with (
                _limited(),
                contextlib.chdir(self.folder),
                contextlib.redirect_stdout(said),
                contextlib.redirect_stderr(told),
            ):
                self.code = _run(self.words)
        except TimeoutError:
            return f"takes longer than {_LIMIT_S} s"
        except Exception:
            return f"raises {traceback.format_exc()}"
        if self.code == 0:
            return self._of_success(said.getvalue(), told.getvalue())
        return self._of_refusal(told.getvalue())

    def _of_refusal(self, told: str) -> str | None:
        if self.code != 2:
            return f"exit code {self.code}: {told}"
        if told.count("\n") != 1 or not told.startswith("leobench: ") or len(told) > 500:
            return f"refused in other than one line: {told[:2000]}"
        left = sorted(entry.name for entry in self.folder.iterdir())
        return None if left == ["measured"] else f"leaves {left}"

    def _of_success(self, said: str, told: str) -> str | None:
        if told:
            return f"succeeds with {told}"
        *_, line = said.splitlines()
        try:
            _check_table((self.folder / "out.csv").read_text(encoding="utf-8"))
            (self.folder / "over.toml").write_text(SCENARIO.format(channel=line), encoding="utf-8")
            leobench.check(self.folder / "over.toml")
            if (self.folder / "trace").exists():
                leobench.check(
                    self.folder / "over.toml", {"links.l.channel": {"kind": "trace", "file": "trace"}}
                )
        except (ValueError, leobench.LeobenchError) as error:
            return f"writes what is wrong: {error}"
        return None


def _run(words: Sequence[str]) -> int:
    try:
        return cli.main(words)
    except SystemExit as exit_:
        return int(exit_.code or 0)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Raises an exception in the block after `_LIMIT_S`."""

    def stop(*_: object) -> NoReturn:
        raise TimeoutError

    former = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)


def _check_table(text: str) -> None:
    """Refuses a table whose values are not finite, not plausible, or not in order."""
    before = -1.0
    for line in text.splitlines()[1:]:
        time, rate, delay, loss, up = line.split(",")
        at = float(time.removesuffix(" s"))
        bps = float(rate.removesuffix(" bps") or 1)
        ms = float(delay.removesuffix(" ms"))
        sound = before < at <= 31 * 86_400 and 0 <= bps <= 1e12 and 0 <= ms <= 60_000
        if not (sound and 0 <= float(loss) <= 0.99 and up in ("true", "false")):
            raise ValueError(line)
        before = at


def _options(kind: str, rng: random.Random) -> list[str]:
    words = ["--rate", "20"] if kind in ("ping", "probes", "irtt") else []
    if rng.random() < 0.05:
        words += ["--kind", rng.choice(list(SAMPLES))]
    if rng.random() < 0.2:
        words += ["--bin", rng.choice(["1", "10", "1000", "1000000"])]
    if rng.random() < 0.2:
        words += ["--interruption", rng.choice(["1", "2", "1000000"])]
    if rng.random() < 0.3:
        words += ["--mahimahi", "trace"]
    return words


def _tampered(text: str, rng: random.Random) -> bytes:
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        text = rng.choice(_OF_TEXT)(text, rng)
    content = text.encode("utf-8", "surrogatepass")
    if rng.random() < 0.05:
        content = _bytes(content, rng)
    if rng.random() < 0.2:
        content = gzip.compress(content, mtime=0)
        if rng.random() < 0.3:
            content = _bytes(content, rng)
    return content


def _numbers(text: str, rng: random.Random) -> str:
    return _replaced(text, _NUMBER, rng.choice(_HOSTILE), rng)


def _tokens(text: str, rng: random.Random) -> str:
    words = _TOKEN.findall(text) or [""]
    return _replaced(text, _TOKEN, rng.choice(words), rng)


def _replaced(text: str, pattern: re.Pattern[str], by: str, rng: random.Random) -> str:
    """A text with one match replaced, or, now and then, all."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    if rng.random() < 0.05:
        return pattern.sub(lambda _: by, text)
    match = rng.choice(found)
    return text[: match.start()] + by + text[match.end() :]


def _strange(text: str, rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(_STRANGE) + text[at:]


def _lines(text: str, rng: random.Random) -> str:
    lines = text.split("\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.choice(["drop", "double", "move", "cut"])
    line = lines.pop(at)
    if how == "double":
        lines[at:at] = [line, line]
    elif how == "move":
        lines.insert(other, line)
    elif how == "cut":
        lines.insert(at, line[: rng.randint(0, len(line))])
    return "\n".join(lines)


def _truncated(text: str, rng: random.Random) -> str:
    return text[: rng.randint(0, len(text))]


def _bytes(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.randint(1, 5)):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


_OF_TEXT: tuple[Callable[[str, random.Random], str], ...] = (
    _numbers, _numbers, _numbers, _tokens, _strange, _lines, _lines, _truncated,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
