"""The designs of other papers that ask a language model, when they write or when they read, in the same renderer.

Who asks least is compared with who asks most: calls and tokens of both are counted apart. What a request's prompts hold
is of what it sees alone, so that nothing that comes later changes them.
"""
