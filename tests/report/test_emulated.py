import networkx
import pytest
from helpers.made_up_runs import made_up, study_of

from netbandit.report.emulated import emulated
from netbandit.report.page import page
from netbandit.studies.emulation import Emulation
from netbandit.studies.emulation.comparison import HopTime, RoundTime, Row
from netbandit.studies.emulation.emulation import WireRow


@pytest.mark.ci
def test_the_page_has_a_section_where_there_is_an_emulation(tmp_path):
    study = study_of([made_up(networkx.path_graph(3), family="path", metrics={"regret": 1.0})])
    assert 'id="emulation"' not in page(tmp_path, study)
    Emulation(
        name="small",
        transport="udp",
        dilation=5.0,
        processes=3,
        tolerance=0.02,
        rows=[Row("replay", "waits", "1,081 ms", "1,082 ms", "differs")],
        round_times=[RoundTime(1, 0.06, 0.061, 1.7)],
        hop_times=[HopTime(0, 1, 1, "FLOOD", 48, 0.02, 0.0201)],
        wire_rows=[WireRow("frames", 12_345, 12_346)],
        calibration_s=[0.002],
        notes=["waits may be a slot longer"],
    ).save(tmp_path)
    text = page(tmp_path, study)
    section = text[text.index('<section id="emulation"') :].split("</section>")[0]
    for shown in (
        "1,082 ms",
        "differs",
        "12,346",
        "3 processes over UDP, dilation 5; waits may be a slot longer",
        '<img alt="" src="data:image/svg+xml;base64,',
    ):
        assert shown in section


def test_a_damaged_file_is_no_emulation(tmp_path):
    (tmp_path / "emulation.svg").write_text("<svg/>")
    assert emulated(tmp_path) is None
    for text in ("{", "[]", '{"rows": []}'):
        (tmp_path / "emulation.json").write_text(text)
        assert emulated(tmp_path) is None
