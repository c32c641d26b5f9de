"""What fits what, and what a scenario will need or lack: found out before anything runs."""
