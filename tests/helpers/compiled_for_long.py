"""What takes long to compile, and so runs uncompiled in the suite (`test_uncompiled`), and compiled by hand."""

import pytest


def compiled_for_long(*protocols):
    return [pytest.param(protocol, marks=pytest.mark.slow) for protocol in protocols]
