"""What is asked of the simulator: papers, the suite, emulation, advice on links, audits of privacy."""
