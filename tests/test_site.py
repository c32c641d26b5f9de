"""The documentation in a browser: every page at two widths, light and dark, without a message on the console.

It is skipped where the site was not built (``python -m sphinx -W -b html docs docs/_build/html``), and what needs a
browser where there is none (``pip install netbandit[browser]``, and a Chromium).
"""

import functools
import http.server
import posixpath
import re
import shutil
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from helpers import chromium

import netbandit as nb
from netbandit.report.page import write_report

STUDY = """
run = { horizon = 400, replications = 2 }
topology = { family = "file", file = "geant.graphml" }
bandit = { kind = "bernoulli", arms = 5 }
learner = { kind = "elimination" }
protocol = { kind = "flooding" }
links.peer = { bandwidth = "1 Mbit/s", loss = 0.05 }
energy = { idle = "1 mW", capacity = "10 J" }
sweep.links.peer.latency = ["1 ms", "10 ms"]
"""

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
if not (SITE / "index.html").exists():
    pytest.skip("the site is not built", allow_module_level=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


TOO_WIDE = """() => {
  const scrolls = node => {
    for (let above = node.parentElement; above; above = above.parentElement) {
      const style = getComputedStyle(above);
      if (["auto", "scroll"].includes(style.overflowX) && above !== document.body) return true;
      if (style.position === "fixed" || above.tagName === "DIALOG") return true;
    }
    return false;
  };
  return [...document.body.querySelectorAll("*")].filter(node => {
    const box = node.getBoundingClientRect();
    if (box.width <= 1 || box.height <= 1 || getComputedStyle(node).visibility === "hidden") return false;
    // A link for those who read by ear is beside the window.
    if (box.right <= 0 || box.left >= -1 && box.right <= document.documentElement.clientWidth + 1) return false;
    return getComputedStyle(node).position !== "fixed" && !scrolls(node);
  }).slice(0, 3).map(node => {
    const box = node.getBoundingClientRect();
    const name = `${node.tagName}.${node.getAttribute("class")}`;
    return `${name} from ${box.left} to ${box.right}: ${node.textContent.slice(0, 40)}`;
  });
}"""
"""Describes elements that are partly outside the window, but what scrolls in its own box or lies above the page."""


@pytest.fixture(scope="module")
def browser():
    chromium.needed()
    with chromium.launched() as browser:
        yield browser


def too_wide(frame):
    """Return what is wider than the window of a page, or of a frame in it."""
    found, width = frame.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return [f"{found} pixels wide"] * (found > width) + frame.evaluate(TOO_WIDE)


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_no_page_complains_and_nothing_on_it_is_wider_than_its_window(address, browser, width, scheme):
    pages = sorted(page for page in SITE.rglob("*.html") if "_static" not in page.parts or page.parent.name == "rounds")
    assert len(pages) > 50
    wrong = []

    def told(message):
        if message.type in ("error", "warning"):  # the theme also tells which of its modes it is in
            wrong.append((name, message.text))

    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    view = context.new_page()
    asked = []
    view.on("console", told)
    view.on("pageerror", lambda error: wrong.append((name, str(error))))
    view.on("response", lambda answer: answer.status < 400 or wrong.append((name, answer.url)))
    view.on("request", lambda request: asked.append(request.url))
    context.route("**/favicon.ico", lambda route: route.fulfill(status=204))  # pages of animations name no icon
    for page in pages:
        name = page.relative_to(SITE).as_posix()
        view.goto(address + name, wait_until="load")
        wrong += [(name, text) for text in too_wide(view)]
    context.close()
    assert wrong == []
    # Nothing is fetched from elsewhere: the site can be read without a network.
    assert {url for url in asked if not url.startswith((address, "data:"))} == set()


def linked(page):
    """Yield the pages to which the header and the text of a page lead: on a phone its sidebar is closed."""
    text = (SITE / page).read_text(encoding="utf-8")
    for part in re.findall(r"<header.*?</header>|<article.*?</article>", text, re.DOTALL):
        for link in re.findall(r'<a [^>]*href="([^"#?:]+\.html)["#?]', part):
            yield posixpath.normpath(posixpath.join(posixpath.dirname(page), link))


def test_every_page_is_three_clicks_from_the_first():
    found = last = {"index.html"}
    for _ in range(3):
        last = {link for page in last for link in linked(page)} - found
        found = found | last
    pages = {page.relative_to(SITE).as_posix() for page in SITE.rglob("*.html") if "_static" not in page.parts}
    assert pages - found == {"genindex.html", "search.html"}  # what is looked up in other ways


@pytest.mark.parametrize(("words", "entry"), [
    ("links.peer.loss", "reference/keys/links.html#key-links.peer.loss"),
    ("wrong_any", "reference/metrics.html#metric-wrong_any"),
    ("coop-ucb2", "algorithms/coop-ucb2.html"),
    ("nodes --battery", "reference/commands.html#cmdoption-netbandit-nodes-battery"),
])  # fmt: skip
def test_the_search_finds_keys_metrics_learners_and_options(address, browser, words, entry):
    view = browser.new_page()
    view.goto(f"{address}search.html?q={quote(words)}")
    view.locator("#search-results .search-summary", has_text="finished").wait_for()
    found = [link.get_attribute("href") for link in view.locator("#search-results ul.search > li > a").all()]
    view.close()
    assert entry in [re.sub(r"\?[^#]*", "", link) for link in found[:10]]


@pytest.mark.parametrize("width", [1400, 390])
def test_nothing_in_a_report_with_its_animation_is_wider_than_its_window(report, browser, width):
    context = browser.new_context(viewport={"width": width, "height": 900})
    view = context.new_page()
    view.goto(report.as_uri(), wait_until="load")
    view.locator("iframe.animation").scroll_into_view_if_needed()
    view.frame_locator("iframe.animation").locator("canvas, svg").first.wait_for()
    page, animation = view.frames
    assert too_wide(page) + too_wide(animation) == []
    context.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a study that has all of its sections but those of emulation: names, batteries, losses, a trace."""
    folder = tmp_path_factory.mktemp("report")
    shutil.copy(Path(__file__).parents[1] / "topologies" / "geant.graphml", folder)
    (folder / "study.toml").write_text(STUDY)
    nb.run(folder / "study.toml", out=folder / "out", trace=True)
    return write_report(folder / "out")
