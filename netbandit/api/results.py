"""Results as a pandas table, shown in a notebook as the findings of a study."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.parts.arguments import by_name
from netbandit.parts.validation import natives
from netbandit.results.intervals import Statistic, StatisticError
from netbandit.results.loads import (
    LINK_COLUMNS,
    NODE_COLUMNS,
    Block,
    battery_life,
    link_blocks,
    node_blocks,
    node_names,
    runs_with_keys,
)
from netbandit.results.picture_names import PICTURE_NAMES
from netbandit.results.remarks import result_lines
from netbandit.results.results_folder import ResultsFolder
from netbandit.results.safe_files import write_whole
from netbandit.results.study_result import StudyResult
from netbandit.results.tables import dataframe
from netbandit.results.varied_keys import alternatives, parameter_names
from netbandit.simulation.regret import knots as grid
from netbandit.simulation.result import RunResult
from netbandit.util.extras import MissingExtraError, installed
from netbandit.util.text import pluralize
from netbandit.util.units import ENERGY, parse_energy
from netbandit.util.wording import names, show

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from netbandit.api.tables import PaperTable
    from netbandit.report.tables import Table


if TYPE_CHECKING or installed("frames"):
    from netbandit.util.extras.frames import pandas

    _Table = pandas.DataFrame
else:

    class _Table:
        """Replaces pandas where it is not installed; any use raises an error that says so."""

        def __init__(self, data: None = None) -> None:
            pass

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise MissingExtraError("frames", "the table of results")

        def __getitem__(self, *_: object) -> Any:
            raise MissingExtraError("frames", "the table of results")

        __len__ = __iter__ = __getitem__

    pandas = _Table()


_VALUE_EACH = "keys that vary with a value each"


class Results(_Table):
    """All figures of a study, long and tidy: one row for each point, replication and metric.

    It is a pandas table, and whatever is taken from it is a plain one. A notebook shows the most telling means with
    their 95 % intervals, as the command does. Without the extra ``frames`` there is no table: its first use says which
    extra to install, and what needs none works, as :meth:`plot`, :meth:`table` and :meth:`report` do.

    Attributes:
        study: The points with their runs, without curves and links.
        folder: The folder of the results.
    """

    _metadata: ClassVar[list[str]] = ["study", "folder"]
    study: StudyResult
    folder: Path

    @property
    def _constructor(self) -> "Callable[..., pandas.DataFrame]":
        return partial(_part_of, self)

    @classmethod
    def of(cls, study: StudyResult, folder: Path) -> "Results":
        """Return the figures of *study*, whose results are in *folder*."""
        found = cls(dataframe(study) if installed("frames") else None)
        found.study = study
        found.folder = folder.absolute()
        return found

    def curves(
        self, name: str = "regret", *, at: "Sequence[float] | NDArray[Any] | None" = None, knots: bool = False
    ) -> "pandas.DataFrame":
        """Return a curve of every run, tidy: the keys that vary, ``replication``, ``slot`` and ``value``.

        All runs of a point have rows at the same slots, so that grouping by slot averages all of them. These are at
        most 2,000, from 0 to the horizon: every slot at first, then ever fewer, the same for all points of one horizon.

        Args:
            name: Which curve: ``regret``, or another that the runs have.
            at: The slots to read all curves at, from 0 to the shortest horizon, in place of these.
            knots: Whether to give the slots at which each run has recorded its own curve, which is piecewise linear
                between them. They differ from run to run: a mean of the rows at one of them is no mean of the runs.

        Raises:
            ValueError: No run has such a curve, *at* is no list of slots that all runs have, or both *at* and *knots*
                are given.
        """
        if knots and at is not None:
            raise ValueError("at=... and knots=True exclude each other: knots are slots of each run's own")
        known: dict[str, None] = {}
        found = []
        for keys, run in runs_with_keys(ResultsFolder(self.folder).study()):
            known |= dict.fromkeys(run.curves)
            if name in run.curves:
                found.append((keys | {"replication": run.replication}, run.curves[name]))
        if not found:
            raise ValueError(f"no run has a curve {name!r}; there are: {', '.join(known) or 'none'}")
        asked = None if at is None else _slots(at, min(int(curve.slots[-1]) for _, curve in found))
        blocks = []
        for keys, curve in found:
            slots = curve.slots if knots else grid(int(curve.slots[-1])) if asked is None else asked
            blocks.append(keys | {"slot": slots, "value": curve.at(slots)})
        return _joined(blocks, [])

    def links(self) -> "pandas.DataFrame":
        """Return the load on each link in each run, uplinks behind the others, tidy.

        The columns are the keys that vary, ``replication``, ``link`` (both ends, ``0-1``; the first is the lower agent,
        or the agent of an uplink), ``first`` and ``second``, its two ends by the names that a graph file gives them,
        ``class`` (``peer`` or ``uplink``), and what was counted: ``messages`` and ``bytes`` in both directions
        together, those from ``second`` to ``first`` alone (``messages_back``, ``bytes_back``), ``activations`` (slots,
        of an uplink rounds, in which at least one message was put on it) and ``energy_j``; ``utilisation``, the share
        of the run for which messages from ``first`` to ``second`` occupied it, and ``utilisation_back``; and
        ``mean_wait_s`` and ``longest_wait_s``, how long messages waited for those before
        them. Where bandwidth is unlimited nothing queues, and these four are 0. Then follows what became of messages,
        both directions together, as in the metrics of these names: ``delivered``, ``lost``, ``dropped``, ``unsent``,
        ``duplicates``, ``duplicates_dropped`` and ``in_flight``, and of their bytes (``delivered_bytes``, ...):
        ``messages + dropped + unsent + duplicates`` is the sum of all others. Results of earlier versions lack some
        columns: NaN.
        """
        study = ResultsFolder(self.folder).study()
        names = [*parameter_names(study), "replication", "link", "first", "second", "class", *LINK_COLUMNS]
        return _joined(link_blocks(study), names)

    def nodes(self, battery: float | str | None = None) -> "pandas.DataFrame":
        """Return what each node sent, received and spent in each run, tidy; the server is a node if it has uplinks.

        The columns are the keys that vary, ``replication``, ``node`` (its name in a graph file, else its number; or
        ``server``), ``messages_sent``, ``messages_received``, ``bytes_sent`` and ``bytes_received`` over all of its
        links, ``energy_sent_j`` and ``energy_received_j``, what messages took, ``energy_j``, all that it spent, which
        adds up to the metric of that name, and ``power_w``, that energy over the simulated time. Every message is
        charged to both of its ends, whether it arrives or is lost; what is under way at the end is neither received nor
        charged to its receiver. Without ``energy.capacity``, what agents spent beside
        messages is divided equally. Results of earlier versions have no record: NaN.

        Args:
            battery: An energy such as ``"1 kJ"``, or in joule: adds ``battery_life_s``, how long it lasts an agent
                whose power stays what it is. Infinite where nothing is spent, for the server, and where what is
                harvested suffices. With ``energy.capacity`` the column is always there, by default of that capacity.

        Raises:
            ValueError: *battery* is no energy.
        """
        energy = None if battery is None else _energy(battery)
        study = ResultsFolder(self.folder).study()
        return _joined(node_blocks(study, energy), [*parameter_names(study), "replication", "node", *NODE_COLUMNS])

    def battery_life(self, battery: float | str) -> "pandas.DataFrame":
        """Return how long an energy lasts in each run, tidy: for the median agent, and for the first to run out.

        The columns are the keys that vary, ``replication``, ``median_s``, ``first_s`` and ``first``, the name of that
        agent.

        Args:
            battery: The capacity of each agent: an energy such as ``"1 kJ"``, or in joule; see :meth:`nodes`.

        Raises:
            ValueError: *battery* is no energy.
        """
        energy = _energy(battery)
        study = ResultsFolder(self.folder).study()
        blocks = []
        for keys, run in runs_with_keys(study):
            median, first, agent = battery_life(run, energy)
            found = {"median_s": median, "first_s": first, "first": node_names(run)[agent]}
            blocks.append(keys | {"replication": [run.replication], **found})
        return _joined(blocks, [*parameter_names(study), "replication", "median_s", "first_s", "first"])

    def plot(  # type: ignore[override]  # a part of the table is a plain one, with the plots of pandas
        self,
        name: str | None = None,
        *,
        x: str | None = None,
        y: str | None = None,
        color: str | None = None,
        rows: str | None = None,
        columns: str | None = None,
        where: Mapping[str, Any] | None = None,
        statistic: str = "mean",
        bands: Literal["auto", "mean", "comparison"] | None = "auto",
        within: frozenset[str] | None = None,
    ) -> "Figure":
        """Return a picture: one that the study has, or any metric against any key.

        It is a figure of matplotlib, and changes like any: ``figure.axes[0].set_title(...)``,
        ``figure.savefig("mine.pdf")``.

        Args:
            name: One that the study has, or a metric; the first picture that the study calls for if nothing is given.
                The pictures are NAMES; ``regret`` is curves over time.
            x: The horizontal axis: a key that varies, a metric, or ``slot`` for curves over time.
            y: The vertical axis: a metric, or over ``slot`` a curve.
            color: The key distinguished by colour, which must vary.
            rows: A key that varies; each of its values has a row of panels.
            columns: The same for columns.
            where: Keys that vary, with the value of the points to draw, or a list of them.
            statistic: The statistic over the replications: ``mean``, ``median`` or a quantile such as ``q90``.
            bands: Which 95 % intervals are drawn: ``mean``, that of each mean; ``comparison``, that which comparing
                means needs, without the effects that all points share in a replication; None for neither; ``auto``:
                that of each mean, unless these hide a difference from the first point that pairs decide.
            within: Run folders by their names, of which points are drawn; all if not given. A part of the table gives
                its own.

        Raises:
            ValueError: There is no such picture, key or metric; the message says which there are.
        """
        from netbandit import plots

        texts = {"name": name, "x": x, "y": y, "color": color, "rows": rows, "columns": columns}
        for given, text in texts.items():
            if text is not None and not isinstance(text, str):
                raise ValueError(f"{given} must be a text, not {show(text)}")
        if bands not in plots.KINDS:
            raise ValueError(f'bands must be "auto", "mean", "comparison" or None, not {show(bands)}')
        study = ResultsFolder(self.folder).finished_study()
        values = {} if where is None else natives("where", by_name("where", where, _VALUE_EACH))
        chosen = {key: tuple(map(str, alternatives(value))) for key, value in values.items()}
        asked = plots.Asked(x, y, color, chosen, statistic, None, rows, columns, bands)
        points = None if within is None else [point for point in study.points if not within.isdisjoint(point.keys)]
        try:
            if points is None and name is None and asked == replace(plots.Asked(), statistic=statistic, bands=bands):
                return next(plots.pictures(study, statistic=Statistic.named(statistic), bands=bands)).figure
            if name is not None and x is None and y is None and not self._is_metric(name):
                return plots.draw_asked(study, replace(asked, name=name), points).figure
            return plots.draw_asked(study, replace(asked, y=y or name), points).figure
        except (plots.UnknownNameError, StatisticError) as error:
            where_it_is = "name=...: " if str(error).startswith("there is no picture") else ""
            raise ValueError(f"{where_it_is}{_in_python(error)}") from None

    def _is_metric(self, name: str) -> bool:
        """Return whether *name* is no picture, but a metric."""
        return name not in PICTURE_NAMES and any(name in run.metrics for run in _runs(self.study))

    def table(
        self,
        rows: str | Sequence[str] | None = None,
        columns: str | Sequence[str] | None = None,
        metric: str | Sequence[str] | None = None,
        *,
        compare: str | None = None,
        statistic: str = "mean",
        where: Mapping[str, Any] | None = None,
    ) -> "PaperTable":
        """Return a table for a paper: means with their intervals, and the best in bold where that is decided.

        ``print`` shows it as Markdown; it has ``to_latex()``, ``to_markdown()``, ``to_csv()``, ``to_frame()``, and the
        ``caption`` that describes it.

        Args:
            rows: The keys whose values are the rows, such as ``learner.kind`` or its end, ``learner``, in a list
                or in one text, ``"learner,latency"``; all that are no columns if not given.
            columns: The keys whose values are the columns; those that are not in *rows*, if rows are given.
            metric: One metric, or several side by side; the regret if not given, or that of a decision where users or
                agents stay away.
            compare: The key whose values are compared, among which one is the best; if not given, the label of a case,
                the learner or the protocol, the first that varies, else the last of the rows.
            statistic: ``mean``, ``median`` or a quantile such as ``q90``, of which no difference is decided.
            where: Keys that vary, with the value of the points to take, or a list of them.

        Raises:
            ValueError: There is no such key, value, metric or statistic, or an entry would be several points.
        """
        from netbandit.api.tables import table_of
        from netbandit.results.paired import CompareError

        where = None if where is None else natives("where", by_name("where", where, _VALUE_EACH))
        rows, columns, metric = _texts("rows", rows), _texts("columns", columns), _texts("metric", metric)
        try:
            return table_of(self.study, rows, columns, metric, compared=compare, statistic=statistic, where=where)
        except CompareError as error:
            raise ValueError(_in_python(error)) from None

    def report(self, path: str | PathLike[str] | None = None) -> Path:
        """Write one HTML page about the results that needs nothing but itself, and return where it is.

        Args:
            path: The file; ``report.html`` in the folder of the results if not given.

        Raises:
            StorageError: It cannot be written.
        """
        from netbandit.report.page import page, write_report

        if path is None:
            return write_report(self.folder)
        write_whole(Path(path), page(self.folder, ResultsFolder(self.folder).finished_study()))
        return Path(path)

    def methods(self) -> str:
        """Return the sentences that a paper needs about how the results were made, and its references for BibTeX.

        They name versions with the commit, machines, replications and seeds, how intervals and p-values are made, and
        digests of the scenario and of all fingerprints, as the report has them.
        """
        from netbandit.report.citation import citation
        from netbandit.report.methods import methods

        return f"{methods(self.study)}\n\n{citation(self.study)}"

    def _repr_html_(self) -> str:
        from netbandit.report.tables import findings

        runs = _runs(self.study)
        rows = sum(len(run.metrics) for run in runs)
        sizes = ((len(self.study.points), "point"), (len(runs), "run"), (rows, "row"))
        caption = f"{self.study.name}: {', '.join(pluralize(number, what) for number, what in sizes)}"
        found = findings(self.study)
        return _html(found, "; ".join(filter(None, (caption, found.everywhere, *result_lines(self.study)))))


def _in_python(error: Exception) -> str:
    """Return the message of *error* with the command's options as arguments."""
    return re.sub(r"--(\w+)", r"\1=...", str(error))


class _Part(_Table):
    """Rows of `Results`: a table of pandas, whose pictures are those of the points that are left."""

    _metadata: ClassVar[list[str]] = ["_whole"]
    _whole: Results

    @property
    def _constructor(self) -> "Callable[..., pandas.DataFrame]":
        return partial(_part_of, self._whole)

    def plot(self, name: str | None = None, **how: Any) -> "Figure":  # type: ignore[override]
        """Return a picture of the points that are left; see :meth:`Results.plot`."""
        return self._whole.plot(name, within=frozenset(self["run"]), **how)


def _part_of(whole: Results, *data: Any, **how: Any) -> "pandas.DataFrame":
    """Return what pandas makes of a table of results: rows of it know what they are of, all else is a plain table."""
    found = pandas.DataFrame(*data, **how)
    if list(found.columns) != list(whole.columns):
        return found
    part = _Part(found)
    part._whole = whole
    return part


def _texts(name: str, given: str | Sequence[str] | None) -> list[str] | None:
    """Return *given*, a text in which commas part several, or several texts, as a list."""
    found = names(given) if isinstance(given, str) else given
    if found is not None and not (isinstance(found, Sequence) and all(isinstance(one, str) for one in found)):
        raise ValueError(f"{name} must be a text, or several, not {show(given)}")
    return None if found is None else list(found)


def _slots(at: "Sequence[float] | NDArray[Any]", horizon: int) -> NDArray[Any]:
    """Return the slots at which curves that all reach to *horizon* are asked for, shape (n,)."""
    slots = np.atleast_1d(np.asarray(at))
    whole_list = slots.ndim == 1 and len(slots) > 0 and slots.dtype.kind in "iuf"
    if not whole_list or not ((slots >= 0) & (slots <= horizon)).all():
        raise ValueError(f"at must be a list of slots from 0 to {horizon}, where the shortest curve ends")
    return slots


def _energy(battery: float | str) -> float:
    try:
        energy = parse_energy(battery)
    except ValueError as error:
        raise ValueError(f"battery {error}, not {show(battery)}") from None
    if not 0 < energy < math.inf:
        raise ValueError(f"battery must be {ENERGY}, above 0, not {show(battery)}")
    return energy


assert Results.plot.__doc__ is not None
Results.plot.__doc__ = Results.plot.__doc__.replace("NAMES", ", ".join(f"``{name}``" for name in PICTURE_NAMES))


def _runs(study: StudyResult) -> list[RunResult]:
    return [run for point in study.points for run in point.finished]


def _joined(blocks: Iterable[Block], names: list[str]) -> "pandas.DataFrame":
    """Return *blocks* below each other; without any an empty table with these *names*."""
    tables = [pandas.DataFrame(block) for block in blocks]
    return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame(columns=names)


def _html(table: "Table", caption: str) -> str:
    """Return a table that needs no style of its own: a notebook has one."""
    heads = "".join(f'<th title="{escape(text)}">{escape(name)}</th>' for name, text in table.headings)
    rows = []
    for row in table.rows:
        cells = [
            f'<td style="text-align: {"right" if each.numeric else "left"}">{escape(each.text)}</td>' for each in row
        ]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
