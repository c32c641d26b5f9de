"""Protocols of handlers as users may write them."""

import netbandit as nb

NEWS, WORD = nb.Kind("NEWS"), nb.Kind("WORD")


class PassOn(nb.NeighbourRounds):
    """Whoever hears something new tells it to all neighbours."""

    def on_message(self, node, neighbour, message):
        news = node.claim(message.labels)
        if news:
            node.take_in(message, news)

    def act(self, node, labels):
        node.send_all(NEWS, labels, items=True)


class OneByOne(PassOn):
    """Whoever hears something new tells it to all neighbours that have not told it, in a message for each item."""

    merges = False

    def on_message(self, node, neighbour, message):
        super().on_message(node, neighbour, message)
        node.note_teller(neighbour, message)

    def act(self, node, labels):
        node.send_others(NEWS, labels, size=3)


class Draws(PassOn):
    """Whoever hears something new tells all that it holds to one neighbour, by labels, and answers with one's own."""

    stream = "draws"

    def on_message(self, node, neighbour, message):
        super().on_message(node, neighbour, message)
        if message.kind is NEWS:
            node.send(neighbour, WORD, 1 << node.number, items=True, begun=message.begun)

    def act(self, node, labels):
        node.send_one(NEWS, node.held)


class Watched(PassOn):
    """More than handlers."""

    def start(self, network, aggregation):
        super().start(network, aggregation)
        self.seen = []

    def receive(self, node, arrivals):
        self.seen += [message.labels for _, _, message in arrivals]
        super().receive(node, arrivals)
