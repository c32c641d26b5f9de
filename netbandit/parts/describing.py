"""Whether classes of keys take in what is written under each key, for ``help``, completion and the schema.

Reading it takes a sixth of the time in which the command checks a small scenario, which shows none of it: the command
switches it off before the classes are made.
"""

described = True
