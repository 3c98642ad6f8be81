"""A store belongs to one engine of one process, by whatever name it is opened, and stays with it over a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError
from forks import in_child

from embedded_cosmos import CosmosError, Engine, EngineFileInUse, EngineForked

OPEN = "import sys; from embedded_cosmos import Engine; Engine(sys.argv[1])"


def symlink(path: Path) -> Path:
    (link := path.parent / "link.db").symlink_to(path)
    return link


def linked_folder(path: Path) -> Path:
    (folder := path.parent / "folder").symlink_to(path.parent)
    return folder / path.name


def relative(path: Path) -> Path:
    return Path(os.path.relpath(path))


def winding(path: Path) -> Path:
    return path.parent / ".." / path.parent.name / path.name


def hard_link(path: Path) -> Path:
    (path.parent / "elsewhere").mkdir()
    (link := path.parent / "elsewhere" / "hard.db").hardlink_to(path)
    return link


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there, and hard links cannot be told")
@pytest.mark.parametrize("other", [symlink, linked_folder, relative, winding, hard_link])
def test_a_store_is_in_use_under_all_its_names(tmp_path: Path, other: Callable[[Path], Path]) -> None:
    path = tmp_path / "store.db"
    with Engine(path):
        name = other(path)
        with pytest.raises(EngineFileInUse, match=r"is open in another (engine of this process|process, or)") as error:
            Engine(name)
        assert str(name) in str(error.value)
        process = subprocess.run([sys.executable, "-c", OPEN, name], capture_output=True, text=True, check=False)
        if other is not hard_link:  # whose lock lies in another folder
            assert f"is open in another process: {os.getpid()} ({Path(sys.argv[0]).name})" in process.stderr
    Engine(name).close()
    with Engine(name), pytest.raises(EngineFileInUse):
        Engine(path)


def test_what_is_opened_by_a_link_lies_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "real" / "store.db")
    with Engine(link):
        assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.db", "real"]


forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


@forks
def test_a_fork_gets_an_error_at_once_and_does_not_harm_the_parent(tmp_path: Path, connect: Any) -> None:
    path = tmp_path / "store.db"
    with Engine(path) as engine:
        container = connect(engine).create_database("db").create_container("c", PartitionKey(path="/pk"))
        container.create_item({"id": "1", "pk": "p"})
        engine._lock.acquire()  # as another thread of the parent may have it

        def child() -> str:
            with pytest.raises(CosmosHttpResponseError, match="this process is its fork"):
                container.read_item("1", "p")
            for use in (engine.close, engine.scrub, engine.tidy):
                with pytest.raises(EngineForked):
                    use()
            with pytest.raises(EngineFileInUse):
                Engine(path)
            return "told"

        try:
            assert in_child(child) == "told"
        finally:
            engine._lock.release()
        container.create_item({"id": "2", "pk": "p"})
        process = subprocess.run([sys.executable, "-c", OPEN, path], capture_output=True, text=True, check=False)
        assert "EngineFileInUse" in process.stderr, "the lock is still the parent's"
    with Engine(path) as engine:
        found = connect(engine).get_database_client("db").get_container_client("c").read_all_items()
        assert [item["id"] for item in found] == ["1", "2"]


@forks
def test_a_fork_that_lives_on_does_not_keep_the_store(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    engine = Engine(path)
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
        child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent is done
        os._exit(0)
    os.close(reading)
    try:
        engine.close()
        process = subprocess.run([sys.executable, "-c", OPEN, path], capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
    finally:
        os.close(writing)
        os.waitpid(child, 0)


@forks
def test_a_fork_may_open_a_store_of_its_own(tmp_path: Path) -> None:
    def child() -> str:
        try:
            Engine(tmp_path / "own.db").close()
        except CosmosError as error:
            return str(error)
        return "open"

    with Engine(tmp_path / "store.db"):
        assert in_child(child) == "open"


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(CosmosError, match="is a folder, not a file"):
        Engine(tmp_path)
    assert not tmp_path.with_name(f"{tmp_path.name}-lock").exists()
