"""One pull request as frozen values. Pure: `git` takes the snapshot."""
