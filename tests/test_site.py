"""The documentation in a browser: every page at two widths, light and dark, without a message on the console.

It is skipped where the site was not built (``python -m sphinx -W -b html docs docs/_build/html``), and where there is
no browser (``pip install netbandit[browser]``, and a Chromium).
"""

import functools
import http.server
import shutil
import threading
from pathlib import Path

import pytest

SITE = Path(__file__).parents[1] / "docs" / "_build" / "html"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if not (SITE / "index.html").exists():
    pytest.skip("the site is not built", allow_module_level=True)
pytest.importorskip("playwright")
if CHROMIUM is None:
    pytest.skip("there is no Chromium", allow_module_level=True)


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


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (390, "dark")])
def test_no_page_complains_or_is_wider_than_its_window(address, width, scheme):
    from playwright.sync_api import sync_playwright

    pages = sorted(str(page.relative_to(SITE)) for page in SITE.rglob("*.html") if "_static" not in page.parts)
    assert len(pages) > 50
    wrong = []

    def told(message):
        if message.type in ("error", "warning"):  # the theme also tells which of its modes it is in
            wrong.append((name, message.text))

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        view = context.new_page()
        asked = []
        view.on("console", told)
        view.on("pageerror", lambda error: wrong.append((name, str(error))))
        view.on("response", lambda answer: answer.status < 400 or wrong.append((name, answer.url)))
        view.on("request", lambda request: asked.append(request.url))
        for name in pages:
            view.goto(address + name, wait_until="load")
            found = view.evaluate("document.documentElement.scrollWidth")
            if found > width:
                wrong.append((name, f"{found} pixels wide"))
        browser.close()
    assert wrong == []
    # Nothing is fetched from elsewhere: the site can be read without a network.
    assert {url for url in asked if not url.startswith((address, "data:"))} == set()
