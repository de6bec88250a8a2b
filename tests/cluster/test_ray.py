"""Real clusters of Ray, whose workers and drivers are killed."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import storyproof
from storyproof.datasets.content_hash import ContentHash
from storyproof.datasets.folders import RECORDS
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.reading import find_source
from storyproof.datasets.writing import write_dataset
from storyproof.errors import DataError, ProofError, name_options, names_options
from tests.cluster.conftest import storyproof as run
from tests.cluster.conftest import wait_for
from tests.cluster.gated import Gated, waiting_at

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("default")]

COUNTS = {"train": 6 * 6144 + 300, "val": 0, "test": 600}
OPTIONS = ["--train", str(COUNTS["train"]), "--val", "0", "--test", "600", "--seed", "7", "--shard-stories", "6144"]
DRIVER = """
import sys
from storyproof.datasets.generate import make_benchmark
from storyproof.datasets.writing import write_dataset
from storyproof.engines import make_engine
from tests.cluster.gated import Gated
made = make_benchmark("tomi", 7)
with make_engine("ray", workers=2, address=sys.argv[2] if len(sys.argv) > 2 else None) as engine:
    write_dataset(Gated(made.config, 7), {counts}, sys.argv[1], engine=engine, shard_stories=6144)
"""


def content(path: str | Path, split: str) -> str:
    """Return the hash of all rows in order."""
    found = ContentHash()
    for table in find_source(path, split).tables():
        found.add(table)
    return found.hexdigest()


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same data by one process, in one file per split."""
    out = tmp_path_factory.mktemp("whole") / "tomi"
    return storyproof.generate("tomi", **COUNTS, seed=7, out=out)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same data by one process, in shards."""
    out = tmp_path_factory.mktemp("shards") / "tomi"
    storyproof.generate("tomi", **COUNTS, seed=7, out=out, shard_stories=6144)
    return out


def test_the_content_is_that_of_one_process_though_a_worker_is_killed(
    cluster: Any, gate: Path, tmp_path: Path, whole: dict[str, Any], shards: Path
) -> None:
    out, killed = tmp_path / "tomi", []

    def kill() -> None:
        [pid] = wait_for(lambda: waiting_at(gate), "a worker at the gate")
        os.kill(pid, signal.SIGKILL)
        killed.append(pid)
        wait_for(lambda: len(waiting_at(gate)) == 2, "another worker at the gate")
        (gate / "open").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    made = make_benchmark("tomi", 7)
    write_dataset(Gated(made.config, 7), COUNTS, out, engine=cluster, shard_stories=6144)
    killer.join()
    assert len(killed) == 1
    assert killed[0] in waiting_at(gate)
    assert files_of(out) == files_of(shards)
    for split in ("train", "test"):
        assert content(out, split) == whole["splits"][split]["content_sha256"]
    assert storyproof.verify(out).ok


@pytest.fixture
def nodes(environment: Path, gate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Start a cluster of a head that does no work and two nodes with a core each, as on three machines."""
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")  # the loopback device only
    shared = {"node_ip_address": "127.0.0.1", "include_dashboard": False}
    found = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **shared})
    for _ in range(2):
        found.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    yield found
    found.shutdown()


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_a_machine_that_dies_is_replaced_by_another(nodes: Any, gate: Path, tmp_path: Path, shards: Path) -> None:
    out = tmp_path / "tomi"
    script = DRIVER.replace("{counts}", repr(COUNTS))
    command = [sys.executable, "-c", script, str(out), nodes.address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as driver:
        [pid] = wait_for(lambda: waiting_at(gate), "a worker at the gate")
        raylet = parent_of(pid)
        [node] = [each for each in nodes.worker_nodes if each.all_processes["raylet"][0].process.pid == raylet]
        nodes.remove_node(node, allow_graceful=False)
        wait_for(lambda: len(waiting_at(gate)) == 2, "a worker of the other machine at the gate")
        [other] = set(waiting_at(gate)) - {pid}
        assert parent_of(other) != raylet
        (gate / "open").touch()
        complained = driver.communicate()[1]
    assert driver.returncode == 0, complained
    assert files_of(out) == files_of(shards)


def test_a_run_whose_driver_was_killed_resumes(
    environment: Path, gate: Path, tmp_path: Path, shards: Path, address: str
) -> None:
    out = tmp_path / "tomi"
    script = DRIVER.replace("{counts}", repr(COUNTS))
    with subprocess.Popen([sys.executable, "-c", script, str(out)], stderr=subprocess.PIPE) as driver:
        [pid] = wait_for(lambda: waiting_at(gate), "a worker at the gate")
        wait_for(lambda: len(list(tmp_path.glob(f".tomi.unfinished-*/{RECORDS}/*.json"))) >= 3, "some shards")
        driver.kill()
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), "the end of its workers")
    [draft] = tmp_path.glob(".tomi.unfinished-*")
    done = {path.name for path in (draft / RECORDS).glob("*.json")}
    assert not out.exists()
    with pytest.raises(DataError, match="tomi is unfinished"):
        storyproof.verify(out)
    before = {path.name: path.stat().st_mtime_ns for path in draft.glob("*.parquet") if f"{path.stem}.json" in done}
    (gate / "open").touch()
    again = run("generate", "tomi", "--out", str(out), *OPTIONS, "--engine", "ray", "--address", address)
    assert again.returncode == 0, again.stderr
    assert f"{len(done)} of 8 shards were done" in again.stderr
    assert files_of(out) == files_of(shards)
    assert before == {name: (out / name).stat().st_mtime_ns for name in before}  # nothing was made twice


def test_verify_audit_and_evaluate_say_the_same_on_a_cluster(shards: Path, address: str, tmp_path: Path) -> None:
    rays = ["--engine", "ray", "--address", address]
    for name, args in {
        "verify": ["verify", str(shards)],
        "audit": ["audit", str(shards)],
        "evaluate": ["evaluate", "--model", "rules,random", "--data", str(shards), "--split", "train"],
    }.items():
        one, two = tmp_path / f"{name}-one.json", tmp_path / f"{name}-ray.json"
        here, there = run(*args, "--json", str(one)), run(*args, *rays, "--json", str(two))
        assert (here.returncode, here.stdout.replace(str(one), "")) == (
            there.returncode,
            there.stdout.replace(str(two), ""),
        ), there.stderr
        assert _plain(json.loads(one.read_text())) == _plain(json.loads(two.read_text()))


def _plain(found: Any) -> Any:
    """Return results without the time that they took."""
    for each in found if isinstance(found, list) else [found]:
        for name in ("started", "seconds"):
            each.get("run", {}).pop(name, None)
    return found


def test_data_that_are_wrong_are_found_in_the_same_order(shards: Path, cluster: Any, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    names = sorted(path.name for path in shards.glob("train-*.parquet"))
    for name in names:
        (bad / name).write_bytes((shards / name).read_bytes())
    table = pq.read_table(bad / names[1])
    answers = pa.array(["moon"] * table.num_rows).cast(table.schema.field("answer").type)
    pq.write_table(table.set_column(table.column_names.index("answer"), "answer", answers), bad / names[1])
    (bad / "manifest.json").write_bytes((shards / "manifest.json").read_bytes())
    one, many = storyproof.verify(bad), storyproof.verify(bad, engine=cluster)
    assert len(one.findings) > 6144
    assert one == many


def test_one_file_is_divided_among_the_workers_of_a_cluster(cluster: Any, tmp_path: Path) -> None:
    rows = storyproof.generate("tomi", train=3600, seed=7).to_pylist()
    for number in (9, 8_000, 20_000):
        rows[number]["answer"] = "moon"
    path = tmp_path / "train.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["passage", "query", "label"])
        writer.writerows([each["story"], each["question"], each["answer"]] for each in rows)
    items: list[Any] = []

    class Counted:
        workers = cluster.workers

        def run(self, work: Any, parts: Any) -> Any:
            items.extend(parts)
            return cluster.run(work, parts)

    many = storyproof.audit(path, engine=Counted())  # type: ignore[arg-type]
    assert len(items) > 1
    one = storyproof.audit(path)
    assert [each.row for each in one.findings][:1] == [9]
    assert json.dumps(one.as_dict()) == json.dumps(many.as_dict())


def test_messages_of_workers_name_options_as_the_command_does(cluster: Any) -> None:
    assert dict(cluster.run(_names_options, [0])) == {0: names_options()}
    name_options(not names_options())
    try:
        assert dict(cluster.run(_names_options, [0])) == {0: names_options()}
    finally:
        name_options(not names_options())


def _names_options(item: int) -> bool:
    return names_options()


def test_errors_of_workers_are_raised(cluster: Any) -> None:
    with pytest.raises(ProofError, match="oracle and checker differ"):
        list(cluster.run(_fail, [1]))
    assert dict(cluster.run(abs, [-1, 2, -3])) == {0: 1, 1: 2, 2: 3}
    assert list(cluster.run(abs, [])) == []


def _fail(item: int) -> int:
    raise ProofError("oracle and checker differ")


def test_everything_listens_on_the_loopback_device_only(cluster: Any, address: str) -> None:
    assert address.startswith("127.0.0.1:")
    import ray

    assert all(node["NodeManagerAddress"] == "127.0.0.1" for node in ray.nodes())
    assert ray.get_runtime_context().worker.node.address_info["webui_url"] in (None, "")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:1", "no cluster of Ray can be reached at 127.0.0.1:1 (Connection refused); check that it runs"),
        ("nowhere", "--address is 'nowhere'; expected HOST:PORT, such as 10.0.0.1:6379, or auto."),
    ],
)
def test_an_address_without_a_cluster_is_one_sentence(
    environment: Path, tmp_path: Path, address: str, expected: str
) -> None:
    found = run("generate", "tomi", "--out", str(tmp_path / "x"), *OPTIONS, "--engine", "ray", "--address", address)
    assert found.returncode == 2
    assert expected in found.stderr
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("import ray; ray.__version__ = '2.0.0'", "has other versions than this machine"),
        ("import storyproof; storyproof.__version__ = '9.9'", "a worker of Ray has storyproof"),
    ],
)
def test_other_versions_are_one_sentence(address: str, tmp_path: Path, change: str, expected: str) -> None:
    args = ["generate", "tomi", "--out", str(tmp_path / "x"), *OPTIONS, "--engine", "ray", "--address", address]
    script = f"{change}; import sys; sys.argv[1:] = {args!r}; from storyproof.cli import main; main()"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 2, found.stderr
    assert expected in found.stderr
    assert found.stderr.count("\n") <= 2
    assert "Traceback" not in found.stderr


def test_an_engine_is_refused_where_files_cannot_be_answered_apart(shards: Path, cluster: Any) -> None:
    with pytest.raises(storyproof.StoryproofError, match="majority looks at all examples at once"):
        storyproof.evaluate("majority", shards, engine=cluster)
    with pytest.raises(storyproof.StoryproofError, match="--max-stories is 5"):
        storyproof.evaluate("rules", shards, max_stories=5, engine=cluster)
