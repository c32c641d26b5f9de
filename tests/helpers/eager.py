"""A learner that never stops asking."""

from netbandit.learners.feducb import FedUcb


class Eager(FedUcb):
    """Wishes for a synchronisation after every decision, whatever is under way."""

    def learn(self, agent, own, action, reward):
        super().learn(agent, own, action, reward)
        return True
