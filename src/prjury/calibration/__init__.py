"""Who judges the judges: recorded ballots, and what strategies would have made of them."""
