"""Byzantine agents and robust aggregation rules."""
