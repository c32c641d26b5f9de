"""The pictures of a study: ``plot_folder`` writes those of a results folder, ``pictures`` draws them from its result.

``plot_against`` and ``draw_asked`` draw one more picture, of a metric against a key or metric chosen by the user.

| question | module |
|---|---|
| which pictures does a study have? | `study_pictures` |
| which pictures are in a folder, and which are kept? | `picture_files` |
| regret over the slots with a band over replications | `regret` |
| regret over two numeric keys together | `heatmap` |
| any metric against any key or metric: how it is drawn | `chart` |
| regret against cost, diameter, data, delay, privacy, a swept number: what is drawn, and when | `chart_kinds` |
| the network, its links coloured by use, its sinks | `network` |
| the busiest links, and how long messages wait for them | `bottleneck` |
| a round in time, from a trace | `timeline` |
| which series and colours do the points have? | `grouping` |
| which panels are there, and how are they arranged? | `facets` |
| which estimate and interval does a metric have? | `estimates`, `bands` |
| what does a subtitle contain? | `subtitles` |
| how are points drawn and distinguished? | `marks`, `shapes` |
| where is a value on an axis, and what is its label? | `axis`, `values` |
| where are nodes and labels placed? | `node_positions`, `label_placement` |
| which events of the environment are drawn? | `events` |
| what is the common style, and how are files written? | `style` |
"""

from netbandit.plots.bands import KINDS
from netbandit.plots.picture_files import folder_pictures, plot_against, plot_folder
from netbandit.plots.study_pictures import Asked, Picture, draw_asked, pictures, planned
from netbandit.results.varied_keys import UnknownNameError

__all__ = [
    "KINDS",
    "Asked",
    "Picture",
    "UnknownNameError",
    "draw_asked",
    "folder_pictures",
    "pictures",
    "planned",
    "plot_against",
    "plot_folder",
]
