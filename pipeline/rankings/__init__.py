"""Rankings of other systems: the rows of a file, and the stored turns that they mean."""
