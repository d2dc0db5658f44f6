"""YAML documents, read for their meaning."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import yaml

from prjury.manifests.manifest import ManifestError

#: Lists and maps within each other, where they are written in brackets.
_DEEPEST = 200


def read_documents(text: str) -> list[object]:
    """Read a text's documents; aliases and keys that are given twice are refused."""
    try:
        _refuse_tricks(text)
        return list(yaml.load_all(text, _YamlReader))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ManifestError(f"it is not YAML: {str(error).splitlines()[0]}") from error


def _refuse_tricks(text: str) -> None:
    depth = 0
    for token in yaml.scan(text):  # each token takes longer the deeper it stands
        if isinstance(token, yaml.AliasToken):
            raise ManifestError("it has aliases, which are not followed")
        depth += isinstance(token, (yaml.FlowSequenceStartToken, yaml.FlowMappingStartToken))
        depth -= isinstance(token, (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken))
        if depth > _DEEPEST:
            raise ManifestError("it is nested without end")


class _YamlReader(yaml.SafeLoader):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - as PyYAML has it
        keys = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        mapping = super().construct_mapping(node, deep=deep)
        if len({self.construct_object(key, deep=True) for key in keys}) < len(keys):
            raise ValueError("a key is given twice")
        return mapping
