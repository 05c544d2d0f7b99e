"""Policies: the order of a pool under each, the greedy fill, and the slates that come of them."""
