"""Word banks: what the generated histories talk about."""
