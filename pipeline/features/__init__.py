"""Features of candidates, and the groups a ranker is trained on."""
