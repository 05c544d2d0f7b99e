"""Recall: which turns a request sees, how channels score them, and the pool they make together."""
