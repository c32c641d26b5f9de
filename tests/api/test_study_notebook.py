"""The notebook of a study is what its cells give: they run, and it shows what they give."""

import json
from pathlib import Path

import pandas
import pytest
from matplotlib.figure import Figure

NOTEBOOK = json.loads((Path(__file__).parents[2] / "scenarios" / "study.ipynb").read_text(encoding="utf-8"))
CODE = {cell["id"]: "".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"}


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Run the cells in order, as a notebook does, and return what each shows."""
    values, known = {}, {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("notebook"))
        for name, code in CODE.items():
            *body, last = code.splitlines()
            exec("\n".join(body), known)
            values[name] = eval(last, known)
    return values


@pytest.mark.ci
def test_a_study_from_a_graph_to_a_picture_takes_at_most_twelve_lines(shown):
    assert len([line for line in CODE["study"].splitlines() if line.strip()]) <= 12
    assert isinstance(shown["study"], Figure)


@pytest.mark.ci
def test_the_notebook_shows_the_numbers_that_its_cells_give(shown):
    outputs = {cell["id"]: cell.get("outputs") for cell in NOTEBOOK["cells"]}
    assert isinstance(shown["links"], pandas.DataFrame)
    assert "".join(outputs["links"][0]["data"]["text/html"]) == shown["links"]._repr_html_()
    assert "image/png" in outputs["study"][0]["data"]
