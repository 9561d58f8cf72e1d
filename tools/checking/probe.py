"""What gpu_probe prints: a line of JSON for each fact."""

import json
import re


def facts_of(text):
    """Those in a probe's lines, the last of which a crash may have cut."""
    found = []
    for line in text.splitlines():
        if re.match(r'\{"fact"', line):
            try:
                found.append(json.loads(line))
            except ValueError:
                pass
    return found


def missing_library(fact):
    """The name of the library that the fact says is missing, with what to install; or None."""
    name = fact["fact"].removesuffix(" is missing")
    return None if name == fact["fact"] else name


def text_of(fact):
    if "text" in fact:
        return f"{fact['fact']}: {fact['text']}"
    return f"{fact['fact']}: {fact['value']:.6g} {fact['unit']}"
