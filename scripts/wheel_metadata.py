#!/usr/bin/env python3
"""Prints the METADATA of a wheel, from pyproject.toml and README.md.

    scripts/wheel_metadata.py VERSION
"""

import re
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent
text = (root / "pyproject.toml").read_text(encoding="utf-8")


def value(name):
    return re.search(rf'^{name} = "(.*)"$', text, re.M).group(1)


def values(name):
    items = re.search(rf"^{name} = \[(.*?)\]", text, re.M | re.S).group(1)
    return re.findall(r'"(.*?)"', items)


lines = [
    "Metadata-Version: 2.1",
    f"Name: {value('name')}",
    f"Version: {sys.argv[1]}",
    f"Summary: {value('description')}",
    f"Keywords: {','.join(values('keywords'))}",
    "License: MIT OR Apache-2.0",
    "License-File: LICENSE-APACHE",
    "License-File: LICENSE-MIT",
    *[f"Classifier: {it}" for it in values("classifiers")],
    f"Requires-Python: {value('requires-python')}",
    "Provides-Extra: tables",
    *[f"Requires-Dist: {it}; extra == 'tables'" for it in values("tables")],
    "Description-Content-Type: text/markdown",
]
print("\n".join(lines) + "\n\n" + (root / "README.md").read_text(encoding="utf-8"), end="")
