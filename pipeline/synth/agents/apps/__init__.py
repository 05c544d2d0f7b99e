"""Tasks in made-up apps: sign in, read documentation, page through records, act on them with what was read."""
