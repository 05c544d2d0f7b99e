"""Generated histories: LongMemEval-shaped, with planted evidence and near misses. Same seed, same bytes."""
