"""Tasks in a repository: read, search, run tests, edit, and come back to what was read before."""
