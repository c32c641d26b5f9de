"""The report in a browser; skipped where there is none (``pip install netbandit[browser]``, and a Chromium)."""

import networkx
import pytest
from helpers import chromium
from helpers.made_up_runs import made_up, write

from netbandit.report import write_report

chromium.needed()


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    runs = [
        made_up(
            graph, family=family, parameters={"topology.family": family}, replication=replication, bend=2_500 + place
        )
        for place, (family, graph) in enumerate(
            {
                "star": networkx.star_graph(7),
                "ring": networkx.cycle_graph(8),
                "complete": networkx.complete_graph(6),
            }.items()
        )
        for replication in range(2)
    ]
    write(folder, runs, {"description": "What a structure costs"})
    return write_report(folder).as_uri()


@pytest.fixture(scope="module")
def browser():
    with chromium.launched() as browser:
        yield browser


@pytest.fixture
def visit(browser, address):
    """Return a function that opens the report; what it asks for and what goes wrong is checked in the end."""
    contexts, wrong, asked = [], [], []

    def visit(**keys):
        contexts.append(browser.new_context(**keys))
        page = contexts[-1].new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert wrong == []
    assert set(asked) == {address}


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def column(page, number):
    texts = page.locator(f"#found tbody tr td:nth-child({number})").all_inner_texts()
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]


def test_a_table_is_sorted_by_a_click_and_by_the_keyboard(visit):
    page = visit()
    regret = page.locator("#found th", has_text="regret")
    assert column(page, 2) == ["star", "ring", "complete"]
    regret.get_by_role("button").click()
    assert regret.get_attribute("aria-sort") == "ascending"
    ascending = column(page, 3)
    values = [float(text.split(" ± ")[0].replace(",", "")) for text in ascending]
    assert values == sorted(values)
    assert len(set(values)) == 3
    page.keyboard.press("Enter")
    assert regret.get_attribute("aria-sort") == "descending"
    assert column(page, 3) == ascending[::-1]
    page.locator("#found th", has_text="family").get_by_role("button").focus()
    page.keyboard.press("Space")
    assert column(page, 2) == ["complete", "ring", "star"]
    assert regret.get_attribute("aria-sort") is None


def test_the_curves_say_their_values_under_the_pointer_and_to_the_arrow_keys(visit):
    page = visit()
    drawing = page.locator(".readable .drawing")
    values = page.locator(".readable .values")
    drawing.scroll_into_view_if_needed()
    assert values.is_hidden()
    box = drawing.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    slot, *entries = values.inner_text().split("\n")
    assert slot.startswith("slot ")
    assert {entry.split(":")[0] for entry in entries if entry} == {"star", "ring", "complete"}
    assert all(" ± " in entry for entry in entries if entry)
    page.mouse.move(5, 5)
    assert values.is_hidden()
    page.locator(".readable .scroll").focus()
    page.keyboard.press("End")
    assert values.inner_text().startswith("slot 10,000")
    final = {row[0]: row[1] for row in zip(column(page, 2), column(page, 3), strict=True)}
    for entry in filter(None, values.inner_text().split("\n")[1:]):
        label, text = entry.split(": ")
        mean = float(text.split(" ± ")[0].replace(",", ""))
        assert mean == pytest.approx(float(final[label].split(" ± ")[0].replace(",", "")), rel=0.01)
    page.keyboard.press("ArrowLeft")
    assert values.inner_text().startswith("slot 9,800")
    page.keyboard.press("Escape")
    assert values.is_hidden()


def test_on_a_phone_the_page_does_not_scroll_sideways(visit, tmp_path):
    page = visit(**PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator(".readable .more").is_visible()  # as the picture goes on beyond the window
    page.locator(".readable .drawing").tap(position={"x": 150, "y": 150})
    box = page.locator(".readable .values").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.screenshot(path=tmp_path / "phone.png")
    assert (tmp_path / "phone.png").stat().st_size > 10_000


def test_on_paper_everything_is_unfolded_and_fits(visit):
    page = visit(viewport={"width": 718, "height": 1000})
    page.emulate_media(media="print")
    assert page.locator("details[open]").count() == 0
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details[open]").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    assert page.locator("nav").is_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


WIDTHS = """() => {
  const section = document.querySelector("#found");
  const table = section.querySelector("table"), box = table.parentElement.getBoundingClientRect();
  const numbers = [...section.querySelectorAll("td.number")].flatMap((cell) => {
    const range = document.createRange(), text = cell.firstChild, parts = text.data.split(" ");
    let start = 0;
    return parts.map((part) => {
      range.setStart(text, start);
      range.setEnd(text, start + part.length);
      start += part.length + 1;
      return new Set([...range.getClientRects()].map((place) => Math.round(place.top))).size;
    });
  });
  const broken = numbers.filter((lines) => lines > 1).length;
  return { left: box.left, right: box.right, table: table.offsetWidth, broken };
}"""


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A report whose table has six keys and as many metrics as there may be."""
    folder = tmp_path_factory.mktemp("wide")
    values = {
        "topology.family": ("small-world", "scale-free"),
        "protocol.kind": ("master-worker", "flooding"),
        "learner.participation": (0.125, 0.0625),
        "learner.epsilon": (0.1, 10.0),
        "learner.rounds": (1024, 16),
        "links.peer.latency": ("0.25 slots", "100 ms"),
        "topology.components": ([7, 8] * 9, [40, 80, 120, 160]),
    }
    runs = [
        made_up(
            networkx.cycle_graph(8 + place),
            parameters={key: pair[place] for key, pair in values.items()},
            replication=replication,
            metrics={"energy_j": 123.456 * (1 + place + replication), "simulated_s": 9e4 * (1 + place)},
            bend=250_000,
            horizon=1_000_000,
        )
        for place in range(2)
        for replication in range(2)
    ]
    write(folder, runs)
    return write_report(folder).as_uri()


@pytest.mark.parametrize(("width", "media"), [(1200, "screen"), (390, "screen"), (718, "print")])
def test_a_wide_table_stays_in_the_window_and_breaks_no_number(browser, wide, width, media):
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(wide)
    page.emulate_media(media=media)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    found = page.evaluate(WIDTHS)
    assert found["left"] >= 0
    assert found["right"] <= width
    assert found["broken"] == 0
    assert media == "screen" or found["table"] <= width
    assert width < 1200 or found["right"] - found["left"] > 1000
    page.close()


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 20, 20)")])
def test_light_and_dark(visit, scheme, paper):
    page = visit(color_scheme=scheme)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    assert (page.evaluate("getComputedStyle(document.querySelector('.drawing svg')).filter") != "none") == (
        scheme == "dark"
    )


def test_without_scripts_everything_is_there_to_see(visit):
    page = visit(java_script_enabled=False)
    assert page.locator("#found tbody tr").count() == 3
    assert page.locator("#found th button").count() == 0
    assert page.locator("#regret svg").bounding_box()["height"] > 300
    assert page.locator(".hint").is_hidden()
