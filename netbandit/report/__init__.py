"""The report: one HTML file with the question, the findings, and how to reproduce them.

| module | makes |
|---|---|
| `tables` | the tables: findings, graphs, privacy, and all that is known of each point |
| `pictures` | the pictures of the results as drawings inside the page |
| `curves` | the values at the pointer on the curves of regret |
| `recipe` | the scenario, the commands and the versions that make the results again |
| `citation` | the references for a paper about the results, from ``references.bib`` |
| `hot_spots` | each network, and the links and nodes that carried, waited, cost and spent most |
| `loads` | the busiest links and uplinks, what each node spent, and how long a battery lasts |
| `losses` | failures: the messages lost, where, and their cost |
| `page` | the page, from all of these and the files in ``templates``; whether it is outdated |

The page refers to nothing outside itself, and the same results give the same bytes.
"""

from netbandit.report.citation import CITATION
from netbandit.report.page import REPORT, outdate, write_report

__all__ = ["CITATION", "REPORT", "outdate", "write_report"]
