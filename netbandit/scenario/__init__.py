"""What the user wrote: validated, frozen, each error with its place.

This package knows the file, not the parts: ``[bandit]``, ``[learner]`` and ``[protocol]`` stay raw tables until the
simulation finds their classes. A check collects all mistakes, then turns them into lines::

    from netbandit.scenario.load import load
    from netbandit.scenario.sweep import expand, problems
    from netbandit.reading import read
    from netbandit.scenario.validate import validate

    document = load("scenario.toml", ["run.horizon=1000"])
    found = problems(document.data)
    for point in expand(document.data, document.parameters):
        scenario, mistakes = validate(point.data)
        run, more = read(RunSettings, point.data["run"], ("run",))
        found += [point.origin(problem) for problem in mistakes + more]
    if found:
        raise document.error(found)  # its .lines: FILE:LINE:COLUMN: key.path: what is wrong, what is allowed
"""
