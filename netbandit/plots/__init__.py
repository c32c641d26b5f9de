"""The pictures of a study: ``plot_folder`` writes those of a results folder, ``pictures`` draws them from its result.

``plot_against`` and ``draw_asked`` draw one more, of what the user wants to see against what.

| module | draws |
|---|---|
| `regret` | regret over the slots with a band over replications |
| `structure` | regret against cost of protocols, delay as size |
| `learners` | regret of many learners against data, energy and delay |
| `heatmap` | regret over two numbers that vary together |
| `parameter` | regret and waiting against a swept number |
| `tradeoff` | cost, delay and regret against the diameter, regret against cost |
| `xy` | regret against delay, privacy and communication; any metric against any key or metric |
| `network` | the network, its links coloured by use, its sinks |
| `timeline` | a round in time, from a trace |

`choice` decides which of them a study calls for, `asked` draws what the user asks for, `folder` writes them and keeps
those that were asked for. `grouping` makes points, series and colours of a study, `bands` its intervals, `points` and
`shapes` its marks, `axis` and `values` its axes; `style` is how all of them look and how they are written.
"""

from netbandit.plots.asked import Asked, draw_asked
from netbandit.plots.choice import Picture, pictures, planned
from netbandit.plots.folder import folder_pictures, plot_against, plot_folder
from netbandit.results.names import UnknownNameError

__all__ = [
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
