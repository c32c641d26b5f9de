"""The sentences for a paper: each number in them is that of the results."""

import re
from dataclasses import replace
from hashlib import sha256

import pytest
from helpers.made_up_runs import family_sweep, made_up, study_of

import netbandit as nb
from netbandit.report.methods import methods
from netbandit.report.page import write_report
from netbandit.util.process import machine, machine_text

STUDY = """
run = { horizon = 200, replications = 3, seed = 7 }
topology = { family = "ring", agents = 4 }
bandit = { kind = "bernoulli", arms = 3 }
learner = { kind = "ucb" }
protocol = { kind = "relay" }
sweep.links.peer.latency = ["0 ms", "5 ms"]
"""


@pytest.mark.ci
def test_methods_name_versions_machine_runs_seed_and_digests(tmp_path):
    (tmp_path / "waits.toml").write_text(STUDY)
    nb.run(tmp_path / "waits.toml", out=tmp_path / "out")
    results = nb.load_results(tmp_path / "out")
    text = results.methods()
    assert f"run with netbandit {nb.__version__} (python " in text
    assert f"They ran on {machine_text(machine())}." in text
    assert (
        "has 2 points, which differ in links.peer.latency (0 ms, 5 ms), with 3 replications each, from the root seed 7."
        in text
    )
    assert (
        "A run has 200 slots of 1 ms and 4 agents; its topology is ring, its bandit bernoulli with 3 arms, its learner "
        "ucb, and its protocol relay (slotted)." in text
    )
    page = write_report(tmp_path / "out").read_text(encoding="utf-8")
    scenario = re.search(r'aria-label="waits.toml"><code>(.*?)</code>', page, re.DOTALL)[1].replace("&#34;", '"')
    assert sha256(scenario.encode()).hexdigest() in text
    fingerprints = re.findall(r"<td[^>]*>([0-9a-f]{16,})</td><td[^>]*>[0-9a-f]{20}</td>", re.sub(r"\s*\n\s*", "", page))
    assert len(fingerprints) == 6
    assert sha256("".join(f"{each}\n" for each in fingerprints).encode()).hexdigest() in text
    sentences, _, entries = text.partition("\n\n")
    assert sentences in page.replace("&#39;", "'")
    assert entries.startswith("@software{netbandit,")
    assert "auer2002finite" in entries


def test_methods_do_not_tell_of_machines_that_are_not_known_and_count_what_is_missing():
    text = methods(study_of([made_up()]))
    assert "They ran on" not in text
    assert "has 1 point with 1 replication, from the root seed 0." in text
    whole = study_of(family_sweep())
    whole.points[0] = replace(whole.points[0], runs=[whole.points[0].runs[0], None])
    assert "with 1 or 2 replications each" in methods(whole)
    assert "1 of its 6 runs are missing." in methods(whole)
