"""Compiles methods of learners and bandits with numba, after turning the attributes they read into arguments."""
