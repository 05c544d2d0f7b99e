"""Units and pieces: what of a history is written once, and the verbatim parts that can be recovered of it."""
