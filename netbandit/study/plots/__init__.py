"""The pictures of a results folder: ``plot_folder`` writes them, ``pictures`` draws them from runs in memory.

| module | draws |
|---|---|
| `regret` | regret over the slots with a band over replications |
| `parameter` | regret and waiting against a swept number |
| `tradeoff` | cost and regret against the diameter, regret against cost |
| `structure` | regret against cost of protocols, delay as size |
| `network` | the network, its links coloured by use |

`choose` decides which of them some results call for, `arrange` makes points, series and colours of loose runs,
`style` is how all of them look and how they are written.
"""

from netbandit.study.plots.choose import Picture, pictures, plot_folder

__all__ = ["Picture", "pictures", "plot_folder"]
