"""The same campaign on a Dask cluster."""

from __future__ import annotations

import importlib.metadata
import os
import socket
import subprocess
import sys
from concurrent.futures import Executor, Future
from typing import TYPE_CHECKING, Any, cast

import pytest

import leobench
from leobench import cli
from leobench.campaign import cluster
from tests.support import campaigns

if TYPE_CHECKING:
    from pathlib import Path


# Dask's own threads and sockets are not always closed when it says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_local_cluster_of_two_workers_writes_the_same_bytes(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    file = campaigns.write(tmp_path)
    leobench.sweep(file, tmp_path / "here", workers=1)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as local:
        args = ["--executor", "dask", "--scheduler", local.scheduler_address, "--quiet"]
        assert cli.main(["sweep", str(file), "--out", str(tmp_path / "there"), *args]) == 0
    assert campaigns.contents(tmp_path / "there") == campaigns.contents(tmp_path / "here")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:{port}", "127.0.0.1:{port}", "tcp://nowhere.invalid:8786"]
)
def test_a_scheduler_that_does_not_answer(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    monkeypatch.setattr(cluster, "TIMEOUT", "1 s")
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        scheduler = address.format(port=unheard.getsockname()[1])
        args = ["--executor", "dask", "--scheduler", scheduler, "--out", str(tmp_path / "out")]
        assert cli.main(["sweep", str(campaigns.write(tmp_path)), *args]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"leobench: --scheduler {scheduler}: no Dask scheduler answered within 1 s: ")
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_without_dask_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    args = ["--executor", "dask", "--scheduler", "tcp://127.0.0.1:1", "--out", str(tmp_path / "out")]
    assert cli.main(["sweep", str(campaigns.write(tmp_path)), *args]) == 2
    assert (
        capsys.readouterr().err
        == "leobench: --executor dask: needs Dask; install it with pip install 'leobench[dask]', "
        "or in a checkout with pip install -e '.[dask]'\n"
    )


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_the_executor_of_a_client_of_ones_own_writes_the_same_bytes(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    file = campaigns.write(tmp_path)
    leobench.sweep(file, tmp_path / "here", workers=1)
    started = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**started) as local, distributed.Client(local) as client:
        before = set(tmp_path.rglob("leobench-*"))
        leobench.sweep(file, tmp_path / "there", client.get_executor())
        assert set(tmp_path.rglob("leobench-*")) == before
    assert campaigns.contents(tmp_path / "there") == campaigns.contents(tmp_path / "here")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_a_worker_with_another_leobench_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    other = tmp_path / "site" / "leobench-9.9.9.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: leobench\nVersion: 9.9.9\n", encoding="utf-8"
    )
    file = campaigns.write(tmp_path)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as local,
        distributed.Client(local) as client,
    ):
        address = local.scheduler_address
        words = [sys.executable, "-m", "dask", "worker", address, "--no-nanny", "--no-dashboard"]
        with subprocess.Popen(
            [*words, "--local-directory", str(tmp_path)],
            env=os.environ | {"PYTHONPATH": str(other.parent)},
            stderr=subprocess.DEVNULL,
        ) as worker:
            client.wait_for_workers(1, timeout=60)
            args = ["--executor", "dask", "--scheduler", address, "--out", str(tmp_path / "out")]
            assert cli.main(["sweep", str(file), *args]) == 2
            said = capsys.readouterr().err
            with pytest.raises(leobench.InputError, match=r"has leobench 9\.9\.9"):
                leobench.sweep(file, tmp_path / "out", client.get_executor())
            worker.terminate()
    version = leobench.__version__
    told = f"has leobench 9.9.9; allowed: leobench {version} on every worker, as here\n"
    assert said.startswith("leobench: worker tcp://127.0.0.1:")
    assert said.endswith(told)
    assert said.count("\n") == 1


def test_a_worker_without_leobench_is_refused_and_one_that_is_gone_is_not() -> None:
    class Told:
        """A client whose workers answer this, one question after the other."""

        def __init__(self, *answers: object) -> None:
            self.answers = iter(answers)

        def run(self, *_: object, on_error: str) -> dict[str, object]:
            assert on_error == "return"
            return {"one": next(self.answers)}

    def refused(*answers: object) -> None:
        cluster.refuse_other_versions(cast("Any", Told(*answers)))

    version = leobench.__version__
    refused(version, cluster._commit())
    refused(version, None)
    refused(OSError("connection refused"), OSError("connection refused"))
    with pytest.raises(leobench.InputError, match="worker one has no leobench; allowed: leobench "):
        refused(importlib.metadata.PackageNotFoundError("leobench"))
    if cluster._commit() is not None:
        with pytest.raises(
            leobench.InputError, match="worker one has leobench of commit abc; allowed: commit"
        ):
            refused(version, "abc")


def test_runs_whose_workers_all_die_say_so(tmp_path: Path) -> None:
    class KilledWorker(Exception):  # noqa: N818 (Dask's)
        pass

    class Dying(Executor):
        def submit(self, *_: Any, **__: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(KilledWorker("task-1", 3))
            return future

    with pytest.raises(
        leobench.RunError, match="replicate 1: every worker that had this run died; if memory"
    ):
        leobench.sweep(campaigns.write(tmp_path), tmp_path / "out", Dying())
