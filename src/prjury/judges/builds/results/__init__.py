"""Read the results of a run: reports first, and logs where no report came."""
