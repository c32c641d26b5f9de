"""Runs of learners that decide in slots, with what each agent chose."""

import netbandit as nb
from netbandit.results.results_folder import ResultsFolder
from netbandit.simulation.drivers.slots import Slots


def runs_with_choices(folder, monkeypatch, **given):
    """Return a function that runs a scenario, which is *given* but for its arguments, into a new folder in *folder*.

    It returns the result, and the choices of each agent, as hashes.
    """
    drivers = []
    finish = Slots.finish
    monkeypatch.setattr(Slots, "finish", lambda driver: (drivers.append(driver), finish(driver))[1])

    def run(**parts):
        out = folder / str(len(drivers))
        nb.Scenario(**given | parts).run(out=out)
        return ResultsFolder(out).study().points[0].finished[0], drivers[-1].account.digests.tolist()

    return run
