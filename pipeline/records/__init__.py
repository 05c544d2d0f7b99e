"""Records: what is written of each unit, once (FlexA-Mem, arXiv 2610.33274, section 3.1)."""
