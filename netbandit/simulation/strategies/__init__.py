"""Communication strategies, one for each pattern (`patterns`): they adapt learners to what carries their items."""
