"""The results of a study: folders, tables, statistics, comparisons.

| question | module |
|---|---|
| which runs belong to which point of which study? which study owns a folder? | `results_folder` |
| what does a study consist of, once it is read? | `study_result` |
| what is a study, and which points of a folder belong to it? | `study_identity` |
| how are folders of one study merged, and which runs belong to no study? | `merging` |
| what does a run folder contain, and is it valid? | `run_folder`, `run_content` |
| how is a run folder named, and when is the run of another version reused? | `run_keys`, `changed_numbers` |
| how are files written atomically, and JSON with a checksum? | `safe_files` |
| which metrics are there, and what are their names? | `metrics` |
| which keys distinguish points, and what are their labels? | `varied_keys` |
| which pictures can a study have? | `picture_names` |
| which metrics have a column, and how are cells and single values formatted? | `columns`, `numbers` |
| what do the tables of a folder, the terminal and a DataFrame contain? | `tables`, `columns` |
| how are replications summarized, and with which confidence? | `summary`, `intervals` |
| how do points differ, and is the difference significant? | `compare`, `paired` |
| which runs failed? | `failures` |
| what must a reader of the metrics know? | `remarks` |
| what did each link carry and cost? | `link_use` |
| how busy was each link, what did each node spend, and how long would a battery last? | `loads` |
"""
