"""Third-party privacy accountants, used as a reference."""

from netbandit.util.extras import of_extra

with of_extra("audit"):
    from dp_accounting import dp_event
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld.privacy_loss_mechanism import LaplacePrivacyLoss

__all__ = ["LaplacePrivacyLoss", "PLDAccountant", "dp_event"]
