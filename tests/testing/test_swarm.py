import pytest
from click.testing import CliRunner

from netbandit.cli import main
from netbandit.testing import swarm


@pytest.mark.slow  # for its compilation
@pytest.mark.parametrize("first", range(0, 40, 20))
def test_random_scenarios_keep_all_invariants(first):
    failures = {number: swarm.failure(5, number) for number in range(first, first + 20)}
    assert {number: found for number, found in failures.items() if found is not None} == {}


@pytest.mark.search
def test_random_scenarios_of_another_seed_keep_all_invariants(request):
    seed = int(request.config.getoption("--hypothesis-seed") or 0)
    failures = {number: swarm.failure(seed, number) for number in range(40)}
    assert {number: found for number, found in failures.items() if found is not None} == {}, f"seed {seed}"


def test_a_scenario_is_drawn_from_its_seed_and_number():
    assert swarm.draw(1, 2) == swarm.draw(1, 2)
    drawn = [swarm.draw(1, number) for number in range(60)]
    kinds = {(one["learner"]["kind"], one["protocol"]["kind"]) for one in drawn}
    assert len(kinds) > 15
    single = [{*one["links"]["peer"], *one["links"]["uplink"]} for one in drawn[1::2]]
    single = [keys - {"latency", "bandwidth", "queue", "radio"} for keys in single]
    assert all(len(keys) == 1 for keys in single)
    assert set.union(*single) == {"loss", "jitter", "overtaking", "duplicate", "retry"}
    assert any("faults" in one for one in drawn)
    assert set.union(*map(features, drawn)) == set(swarm.FEATURES)


def features(tables):
    """Return which of `swarm.FEATURES` a scenario has."""
    names = {*tables, *tables["topology"], tables["topology"]["family"], *tables["links"]["peer"]}
    return names & set(swarm.FEATURES)


def test_a_failure_is_made_smaller_and_can_be_replayed(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def broken(tables):
        return "lost for good" if "loss" in tables["links"].get("peer", {}) else None

    monkeypatch.setattr(swarm, "broken", broken)
    number = next(number for number in range(100) if broken(swarm.draw(0, number)))
    found = swarm.failure(0, number)
    assert found.text == "lost for good"
    assert set(found.tables["links"]) == {"peer"}
    assert set(found.tables["links"]["peer"]) == {"loss"}
    assert "faults" not in found.tables
    assert found.tables["run"]["horizon"] == 1
    done = CliRunner().invoke(main, ["swarm", "1", "--start", str(number)])
    assert done.exit_code == 1
    assert f"netbandit swarm --replay swarm-0-{number}.toml" in done.output
    again = CliRunner().invoke(main, ["swarm", "--replay", f"swarm-0-{number}.toml"])
    assert (again.exit_code, again.output) == (1, "lost for good\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a = [", "scene.toml:1:6: syntax: "),
        ('run = "é"'.encode("utf-16"), "scene.toml:1:1: encoding: the byte 0xff is not UTF-8"),
        (b"run = 3", "scene.toml:1:1: run: must be a table"),
        (b"x = " + b"[" * 1_000 + b"]" * 1_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_replayed_is_told_as_by_check(tmp_path, monkeypatch, content, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scene.toml").write_bytes(content)
    done = CliRunner().invoke(main, ["swarm", "--replay", "scene.toml"])
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert not done.stdout
