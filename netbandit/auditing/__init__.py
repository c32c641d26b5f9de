"""Whether what leaves an agent is as private as is stated: epsilon, bounded from below by experiment."""
