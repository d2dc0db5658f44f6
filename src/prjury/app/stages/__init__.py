"""The four trust zones, each in a job of its own: build, collect, decide, settle.

BUILD runs what the change brings and has no secret. COLLECT reads git and the policy, and judges
whatever takes no model. JUDGE has the model's key and nothing else. SETTLE makes the report, which
the publishers hang up with a token that may write. What passes from one to the next is a file of
JSON (`codec`), and no zone believes of it what it can find out itself.
"""
