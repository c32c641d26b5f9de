"""Which pictures of real runs the pages of algorithms show."""

ROUNDS = [
    "gis",
    "flooding",
    "gossip",
    "relay",
    "master-worker",
    "sink",
    "local",
    "consensus",
    "parameter-server",
    "vertical",
]
"""The protocols of which ``studies/rounds.toml`` has a case of this label."""

SLOTS = {"consensus": 8, "parameter-server": 20}
"""Of protocols in which nobody waits, so that no round is one for all, how many slots are shown."""

CURVES = {
    "ucb": ("arms", "ucb", "ucb alone", "klucb", "thompson"),
    "elimination": ("arms", "ucb", "ucb alone", "elimination"),
    "queued": ("late", "klucb", "queued klucb", "queued thompson", "queued ucb"),
    "otflinucb": ("late-linear", "oful", "otflinucb", "otflinucb tight"),
    "race": ("answers", "race", "race alone", "race by elimination"),
    "halving": ("answers", "race", "halving", "halving alone"),
    "coop-ucb2": ("arms", "ucb", "ucb alone", "coop-ucb2"),
    "dducb": ("arms", "ucb", "ucb alone", "dducb"),
    "dec-ucb": ("arms", "ucb", "ucb alone", "dec-ucb"),
    "gosine": ("arms", "ucb", "ucb alone", "gosine"),
    "fedelim": ("federated", "doubling", "every", "doubling, 10 slots away", "every, 10 slots away"),
    "linucb": ("linear", "linucb", "linucb alone", "lints"),
    "oful": ("linear", "linucb", "linucb alone", "oful"),
    "feducb": ("linear", "linucb", "linucb alone", "feducb"),
    "pfcb": ("procurement", "shared exactly", "shared privately", "alone"),
}
"""For each learner's page, the study in ``studies/`` and the labels of the cases that its picture shows."""
