"""The pictures of a results folder: ``plot_folder`` writes them, ``pictures`` draws them from runs in memory.

``plot_against`` draws one more, of what the user wants to see against what.

| module | draws |
|---|---|
| `regret` | regret over the slots with a band over replications |
| `parameter` | regret and waiting against a swept number |
| `heatmap` | regret over two numbers that vary together |
| `tradeoff` | cost, delay and regret against the diameter, regret against cost |
| `xy` | regret against delay, privacy and communication; any metric against any key or metric |
| `structure` | regret against cost of protocols, delay as size |
| `network` | the network, its links coloured by use, its sinks |
| `timeline` | a round in time, from a trace |

`choose` decides which of them some results call for, `arrange` makes points, series and colours of loose runs,
`style` is how all of them look and how they are written.
"""

from netbandit.plots.select import Picture, folder_pictures, pictures, plot_against, plot_folder
from netbandit.results.names import UnknownNameError

__all__ = ["Picture", "UnknownNameError", "folder_pictures", "pictures", "plot_against", "plot_folder"]
