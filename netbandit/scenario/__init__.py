"""The user's input: a file, a dictionary or Python objects, with the location of each key.

| module | does |
|---|---|
| `load` | a file, or tables, with what they extend and `overrides` change, merged (`merge`, `one_of`): a `Document` |
| `source`, `positions` | one file: its text, its tables, and the line and column of every key |
| `given`, `objects` | tables that come from Python: parts, classes and graphs in place of their keys |
| `sweep` | one set of tables for each point of a sweep |
| `model`, `links`, `topology` | the tables of every scenario; those of parts stay raw until classes are known |
| `validate`, `combinations` | what is wrong with these tables, and what cannot be together among them |
| `errors` | all mistakes, a line each: FILE:LINE:COLUMN: key.path: what is wrong, what is allowed |
| `schema`, `toml_text` | the JSON Schema for editors; tables as a file again |

`netbandit.checks.check` makes parts of all this, or says every mistake at once.
"""
