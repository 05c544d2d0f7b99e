"""Generated histories: LongMemEval-shaped, with planted evidence and near misses. The same seed gives the same bytes."""
