"""How values of several agents become one, so that some of them may be anything: numpy in, numpy out."""
