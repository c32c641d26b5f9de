"""The protocol of the README, for tests of what becomes of a protocol written as coroutines."""

import netbandit as nb

REPORT, RESULT = nb.Kind("REPORT"), nb.Kind("RESULT")


class Hub(nb.RoundProtocol):
    """The protocol of the README."""

    def round(self, me, item):
        if me.id == 0:
            items = yield me.receive(REPORT, from_=me.neighbours)
            answer = self.aggregate([item, *items])
            me.send(RESULT, answer, to=me.neighbours)
        else:
            me.send(REPORT, item, to=0)
            answer = yield me.receive(RESULT)
        return answer
