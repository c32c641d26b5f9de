"""A Chromium, for tests that look at pages; they are skipped where there is none."""

import shutil
from contextlib import contextmanager

import pytest

PATH = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def needed():
    """Skip the module that calls this where it cannot be (``pip install netbandit[browser]``, and a Chromium)."""
    pytest.importorskip("playwright")
    if PATH is None:
        pytest.skip("there is no Chromium", allow_module_level=True)


@contextmanager
def launched():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PATH, args=["--no-sandbox"])
        yield browser
        browser.close()
