"""Scenarios of a few agents, one for each way in which agents talk: what to set, in overrides."""

ELIMINATION = ('learner={ kind = "elimination" }', 'bandit={ kind = "bernoulli", means = [0.1, 0.9] }')
UCB = ('learner={ kind = "ucb" }', *ELIMINATION[1:])
FEDUCB = (
    'learner={ kind = "feducb", schedule = "fixed", every = 5 }',
    'bandit={ kind = "linear", dimension = 2, arms = 3 }',
)
TALKS = {
    "rounds": (*ELIMINATION, 'protocol.kind="flooding"', "run.horizon=300"),
    "rounds of gis": (*ELIMINATION, 'protocol.kind="gis"', "run.horizon=300"),
    "rounds of sinks and a server": (*ELIMINATION, 'protocol.kind="sink"', "run.horizon=300"),
    "broadcasts": (*UCB, 'protocol.kind="relay"'),
    "calls over a server": (*FEDUCB, 'protocol.kind="master-worker"'),
    "calls over rounds": (*FEDUCB, 'protocol.kind="gossip"'),
    "calls over local": (*FEDUCB, 'protocol={ kind = "local", ttl = 2 }'),
    "deposits": (
        FEDUCB[1], 'learner={ kind = "oful" }',
        'protocol={ kind = "parameter-server", server = "centre", answer = "lagging" }',
    ),
    "exchanges": (ELIMINATION[1], 'learner={ kind = "coop-ucb2" }', 'protocol={ kind = "consensus" }'),
    "gathers": (
        'bandit={ kind = "vertical", dimension = 4, arms = 3 }', 'learner={ kind = "linucb" }',
        'protocol={ kind = "vertical" }',
    ),
}  # fmt: skip
