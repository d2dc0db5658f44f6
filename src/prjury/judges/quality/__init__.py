"""Judges that ask models: the answers are the models', the counting is the program's.

A kind (`kinds`) says what is asked about. Its input is cut into chunks (`prompt_input`), every seat
of a panel is asked about every chunk by itself (`model_seat`, `query`), quotes are compared with
what was shown, and the answers are counted (`votes`).
"""
