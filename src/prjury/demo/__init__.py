"""The main job on an embedded sample: a real repository, five pull requests, no network, no key."""
