"""What is learned or loaded: token counter, embedder, rankers and their registry."""
