"""What a study leaves behind: folders, tables, statistics, comparisons.

| question | module |
|---|---|
| which runs belong to which point of which study? | `store` |
| whose is a folder, and what would be lost with it? | `one_study` |
| what is a study, and which points of a folder belong to it? | `study_identity` |
| how do folders of one study become one, and what belongs to none? | `merging`, `cleaning` |
| what is in the folder of a run, and can it be trusted? | `run_folder`, `run_content` |
| how is a run called, and when is one of another version taken for it? | `run_keys`, `changed_numbers` |
| how are files written whole, and JSON that checks itself? | `safe_files` |
| which metrics are there, and what are they called? | `metrics` |
| which keys tell points apart, and what are these called? | `varied_keys` |
| which metrics have a column, how are its cells written, and single values? | `columns`, `numbers` |
| what is in the tables of a folder, on the terminal, in a DataFrame? | `tables`, `columns`, `dataframe` |
| what do replications say together, and how surely? | `summary`, `intervals`, `student` |
| how do points differ, and is that decided? | `compare`, `paired` |
| which runs failed? | `failures` |
| what must be known to read the metrics? | `remarks` |
| what did each link carry, and cost? | `link_use` |
| which pictures may it have? | `picture_names` |
| how busy was each link, what did each node spend, and how long would a battery last? | `loads` |
"""
