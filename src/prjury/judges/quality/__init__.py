"""Judges that ask models: the answers are the models', the counting is the program's.

A kind (`kinds`) says what is asked about. Its material is laid out in pieces on sheets
(`material`), every seat of a panel is asked about every sheet by itself (`model_seat`, `asking`), quotes
are compared with what was shown, and findings become opinions, opinions a judgment (`opinions`).
"""
