"""The page that plays a trace back: what it holds, and what a browser makes of it."""

import json
import re
import shutil
from bisect import bisect_right
from dataclasses import replace

import networkx
import numpy as np
import pytest
from click.testing import CliRunner
from helpers.made_up_runs import made_up

from netbandit.checks.check import check
from netbandit.cli import main
from netbandit.report.animation import STATES, page, playback
from netbandit.report.over_time import over_time
from netbandit.scenario.load import load
from netbandit.simulation.result import Nodes
from netbandit.trace.read import Job, LateReward, Lines, Phase, TraceError, Transfer

SLOT = 1_000_000
MESSAGES = [
    Transfer("DATA", 1, 1, 2, 36, 5 * SLOT, 5 * SLOT, 6 * SLOT),
    Transfer("ADV", 1, 0, 1, 24, 4 * SLOT, 4 * SLOT, 5 * SLOT),
    Transfer("ADV", 1, 1, 0, 24, 4 * SLOT, 4 * SLOT + 10, 5 * SLOT),
    Transfer("UPLOAD", 1, 2, "server", 28, 6 * SLOT, 6 * SLOT, 9 * SLOT),
]
PHASES = [
    Phase("exploit", 0, 1, 4 * SLOT, 9 * SLOT, {}),
    Phase("explore", 0, 1, 0, 4 * SLOT, {}),
    Phase("exploit", 1, 0, 9 * SLOT, 20 * SLOT, {}),
]


def run():
    found = made_up(networkx.path_graph(3), family="path")
    found.metrics["simulated_s"] = found.resolved["run"]["horizon"] * SLOT / 1e9
    return found


def test_messages_are_in_order_of_their_start_with_the_totals_up_to_each():
    made = playback(run(), Lines(list(MESSAGES), list(PHASES), 7))
    assert made["slot"] == SLOT
    assert made["start"] == [4 * SLOT, 4 * SLOT + 10, 5 * SLOT, 6 * SLOT]
    assert [made["kinds"][kind] for kind in made["kind"]] == ["ADV", "ADV", "DATA", "UPLOAD"]
    assert (made["sender"], made["receiver"]) == ([0, 1, 1, 2], [1, 0, 2, 3])  # the server is the node after the last
    assert made["bytes"] == [24, 48, 84, 112]
    # The answer on the same link in the same slot is free.
    assert made["activations"] == [1, 1, 2, 3]
    assert made["server"] is True
    assert (made["end"], made["left"]) == (20 * SLOT, 0)


def test_each_agent_has_its_phases_in_order_and_who_waits_is_told_from_who_exploits():
    made = playback(run(), Lines(list(MESSAGES), list(PHASES), 7))
    state = {name: place for place, name in enumerate(made["states"])}
    assert made["phases"] == [
        [0, 4 * SLOT, state["explore"], 4 * SLOT, 9 * SLOT, state["wait"]],
        [9 * SLOT, 20 * SLOT, state["exploit"]],
        [],
    ]


def test_agents_that_have_answered_are_shown_so_whatever_else_they_do():
    answered = run()
    answered.resolved["run"] |= {"slot": "1 ms", "horizon": 10**6}  # the run has ended before
    answered = replace(answered, nodes=Nodes(answered=np.array([7.0, np.nan, 3.0]), wrong=np.array([0.0, np.nan, 1.0])))
    end = round(answered.metrics["simulated_s"] * 1e9)
    made = playback(answered, Lines(list(MESSAGES), list(PHASES), 7))
    state = {name: place for place, name in enumerate(made["states"])}
    assert [track[:3] for track in made["phases"]] == [
        [7 * SLOT, end, state["answered"]],
        [9 * SLOT, 20 * SLOT, state["exploit"]],
        [3 * SLOT, end, state["wrong"]],
    ]
    assert made["slot"] == SLOT


def test_a_network_that_is_too_large_and_a_trace_of_another_one_are_refused():
    small, large = run(), run()
    large.topology["agents"] = 10**7
    with pytest.raises(TraceError, match="has 10,000,000 agents, and is drawn with 20,000 at most"):
        page(large, Lines(list(MESSAGES), [], 4))
    with pytest.raises(TraceError, match="has 3 agents, and the trace messages of others"):
        page(small, Lines([Transfer("DATA", 1, 0, 3, 36, 0, 0, 1)], [], 1))


def test_what_is_left_out_is_counted_and_later_phases_are_left_out_with_it():
    made = playback(run(), Lines(list(MESSAGES), list(PHASES), 7), limit=2)
    assert len(made["start"]) == 2
    assert made["left"] == 2
    assert made["phases"][1] == []


def test_places_fit_the_unit_square():
    made = playback(run(), Lines(list(MESSAGES), [], 4))
    assert all(0 <= number <= 1 for place in made["places"] for number in place)


def test_nothing_a_name_says_is_read_as_html():
    found = run()
    found.parameters["name"] = "</script><script>alert(1)</script><!--"
    text = page(found, Lines(list(MESSAGES), [], 4))
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert json.loads(data[1])["parameters"]["name"] == "</script><script>alert(1)</script><!--"
    assert text.count("</script>") == 2
    assert "http" not in re.sub(r"<!doctype.*?<body>", "", text, flags=re.S).replace(data[0], "")


RING = """
[run]
horizon = 600
[topology]
family = "ring"
agents = 6
[links.peer]
latency = "0.4 ms"
[bandit]
kind = "bernoulli"
arms = 2
[learner]
kind = "elimination"
[protocol]
kind = "gis"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    (folder / "ring.toml").write_text(RING)
    runner = CliRunner()
    done = runner.invoke(main, ["run", str(folder / "ring.toml"), "--trace", "--out", str(folder / "results")])
    assert done.exit_code == 0, done.output
    page = folder / "trace.html"
    done = runner.invoke(main, ["trace", str(folder / "results"), "--format", "html", "--out", str(page)])
    assert done.exit_code == 0, done.output
    said = int(re.search(r"(\d+) messages", done.output)[1])
    trace = next((folder / "results").rglob("trace.jsonl")).read_text().splitlines()
    assert said == sum('"kind"' in line for line in trace) > 0
    return page


@pytest.mark.ci
def test_the_report_of_a_traced_study_plays_it_back(made):
    results = made.parent / "results"
    done = CliRunner().invoke(main, ["report", str(results)])
    assert done.exit_code == 0, done.output
    report = (results / "report.html").read_text()
    assert 'srcdoc="&lt;!doctype html&gt;' in report
    for trace in results.rglob("trace.jsonl"):
        trace.unlink()
    CliRunner().invoke(main, ["report", str(results)])
    assert "srcdoc" not in (results / "report.html").read_text()


def test_a_folder_without_a_trace_is_a_mistake(tmp_path):
    done = CliRunner().invoke(main, ["trace", str(tmp_path), "--format", "html"])
    assert done.exit_code == 2
    assert "--trace" in done.output


WALKERS = RING.replace(
    'family = "ring"', 'family = "mobile"\nrange = "300 m"\nspeed = ["2000 m/s", "4000 m/s"]\npause = "50 ms"'
)
WALKERS = WALKERS.replace('"gis"', '"flooding"')


def test_agents_are_where_they_move_and_linked_while_they_are_near():
    found = check(load("walkers.toml", text=WALKERS)).points[0].simulation(0).run()
    until = 500 * SLOT
    changes = over_time(found, until)
    ends = zip(found.links.first.tolist(), found.links.second.tolist(), strict=True)
    linked = 0
    for (one, other), up in zip(ends, changes.up, strict=True):
        assert up == sorted(up)
        for time in range(0, until, 7 * SLOT + 1):
            here, there = (
                np.array([np.interp(time, *track[:, [0, axis]].T) for axis in (1, 2)])
                for track in (changes.tracks[one], changes.tracks[other])
            )
            assert (np.hypot(*(here - there)) <= 300) == (bisect_right(up, time) % 2 == 1)
            linked += bisect_right(up, time) % 2
    assert linked
    made = playback(found, Lines([Transfer("FLOOD", 1, 0, 1, 24, 0, 0, until)], [], 1))
    assert made["up"] == changes.up
    assert [track[::3] for track in made["tracks"]] == [track[:, 0].tolist() for track in changes.tracks]


def test_a_page_of_contacts_whose_file_is_gone_shows_the_graph(tmp_path):
    (tmp_path / "met.txt").write_text("0 1 0 0.2\n1 2 0.1 0.3\n")
    family = f'family = "contacts"\nfile = "{tmp_path / "met.txt"}"\nformat = "intervals"'
    text = WALKERS.replace(WALKERS[WALKERS.index("family") : WALKERS.index("[links")], family + "\n")
    found = check(load("met.toml", text=text)).points[0].simulation(0).run()
    assert over_time(found, 500 * SLOT).up == [[0, 200 * SLOT], [100 * SLOT, 300 * SLOT]]
    (tmp_path / "met.txt").unlink()
    assert over_time(found, 500 * SLOT) is None
    assert playback(found, Lines([], [], 0))["links"] == [[0, 1], [1, 2]]


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.parametrize("width", [1400, 390])
def test_a_browser_plays_it_without_a_word_and_within_its_window(made, width):
    sync_api = pytest.importorskip("playwright.sync_api")
    wrong = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        sheet = browser.new_page(viewport={"width": width, "height": 900})
        sheet.on("console", lambda message: wrong.append(message.text))
        sheet.on("pageerror", lambda error: wrong.append(str(error)))
        sheet.goto(made.as_uri())
        assert sheet.inner_text("#ledger").split()[-2:] == ["way", "0"]
        sheet.click("#forward")
        first = sheet.inner_text("#clock")
        sheet.click("#forward")
        assert sheet.inner_text("#clock") != first
        sheet.evaluate("netbandit.seek(netbandit.length)")
        sent = int(sheet.inner_text("#ledger").split()[3].replace(",", ""))
        assert sent == len(json.loads(sheet.inner_text("#data"))["start"])
        assert sheet.evaluate("document.documentElement.scrollWidth") <= width
        browser.close()
    assert wrong == []


def test_late_rewards_are_counted_and_who_waits_for_them_has_a_state_of_its_own():
    lines = Lines(list(MESSAGES), [Phase("feedback", 0, 1, 10, 30, {"arm": 1})])
    lines.rewards += [LateReward(1, 0, 20, 90), LateReward(0, 1, 10, 40)]
    made = playback(run(), lines)
    assert (made["pulled"], made["due"]) == ([10, 20], [40, 90])
    assert made["phases"][0] == [10, 30, STATES.index("feedback")]


def test_who_computes_when_is_told_of_each_agent_and_the_server():
    jobs = [Job("message", "server", 9, 12, "UPLOAD"), Job("item", 0, 4, 6, ""), Job("item", 0, 1, 2, "")]
    made = playback(run(), Lines(list(MESSAGES), list(PHASES), 7, jobs=jobs))
    assert made["jobs"] == [[[1, 4], [2, 6]], [[], []], [[], []], [[9], [12]]]
    assert playback(run(), Lines(list(MESSAGES), list(PHASES), 7))["jobs"] == []
