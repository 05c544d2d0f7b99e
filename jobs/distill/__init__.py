"""`slatemill distill`: a ranker fitted on what a teacher rated, judged by it and, where they are known, by labels."""
