"""The four stages of a review, each in a job of its own: build, collect, decide, publish.

* build runs what the change brings, and holds no secret.
* collect reads git and the policy, and asks every judge that needs no model.
* decide asks the models; it holds their key and nothing else.
* publish makes the report, and posts it with a token that may write.

What passes from one stage to the next is a file of JSON (`codec`). No stage trusts such a file for
anything that it can find out itself.
"""
