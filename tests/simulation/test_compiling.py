from numba import njit

from netbandit.simulation.compiling import announce
from netbandit.simulation.linear_play import play


def test_nothing_is_said_of_what_is_compiled_or_not_kept(capsys, tmp_path):
    announce(lambda: 0, "a plain function")
    announce(njit(lambda: 0), "what is compiled each time")
    assert capsys.readouterr().err == ""


def test_a_loop_that_is_not_in_the_cache_is_announced(capsys, monkeypatch, tmp_path):
    class Loop:
        signatures = ()
        py_func = play.py_func
        stats = type("Stats", (), {"cache_path": str(tmp_path)})

    announce(Loop(), "feducb and linear")
    assert capsys.readouterr().err == "compiling the loop of feducb and linear, once on this machine: some seconds\n"
    (tmp_path / "linear_play.play-12.py311.nbi").write_bytes(b"")
    announce(Loop(), "feducb and linear")
    assert capsys.readouterr().err == ""
