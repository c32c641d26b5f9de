"""Drivers make the agents of a replication act, from the first slot to the horizon; `choice` says which one."""
