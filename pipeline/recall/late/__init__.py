"""Late interaction: token vectors as codes, the best cosine of each request token in each turn, and views of those."""
