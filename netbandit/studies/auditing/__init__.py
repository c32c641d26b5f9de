"""Empirical privacy audits: lower bounds on epsilon, compared with the stated guarantee."""
