"""What the paper counts of vertical federation (papers/vertical-2022-vfucb, C), to check its statements by."""

from netbandit.learners.linear_costs import masks_setup, masks_slot


def relative(slot, arms, dimension, slots):
    """Return the operations of *slots* masked decisions over those without masks.

    Args:
        slot: The operations of a decision without masks.
        arms: K.
        dimension: The columns d of a context.
        slots: How many decisions there are.
    """
    return 1.0 + (masks_setup(dimension) / slots + masks_slot(arms, dimension)) / slot


def numbers_bound(arms, dimension, participants):
    """Return the paper's bound on the numbers sent: for masks once, and for contexts a slot.

    It counts what the generator and the active participant would send to themselves.
    """
    return dimension**2, participants * arms * dimension


def numbers_sent(arms, dimension, participants, generator):
    """Return the numbers that are really sent, end to end: for masks once, and for contexts a slot.

    Args:
        arms: K.
        dimension: The columns d of a context.
        participants: N, each with at least one column.
        generator: How many columns the participant has that makes the mask; None: somebody else makes it, and masks
            come out of band.
    """
    masks = 0 if generator is None else dimension**2 - dimension * generator
    return masks, (participants - 1) * arms * dimension
