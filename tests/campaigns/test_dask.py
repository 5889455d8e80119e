"""The same campaign on a Dask cluster."""

from __future__ import annotations

import socket
import sys
from typing import TYPE_CHECKING

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
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
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
        == "leobench: --executor dask: needs Dask: pip install -e '.[dask]' in leobench's checkout\n"
    )
