"""`slatemill train`: a ranker fitted on gold evidence, judged out of fold, and registered with its card."""
