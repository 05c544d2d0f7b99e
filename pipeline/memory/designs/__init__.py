"""Designs that ours is compared with, and ours with a part left out or changed: one policy of memory each.

They see the same units, records, pieces and vectors, count with the same tokenizer and have the same allowance. None
asks a language model when it reads.
"""
