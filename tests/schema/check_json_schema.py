#!/usr/bin/env python3
"""Checks recsort.schema.json: it must accept the example schemas, and reject the hostile ones with a
wrong shape (shape-* in hostile.txt).

usage: check_json_schema.py SCHEMAS HOSTILE    Exit status: 0 right, 1 wrong, 77 skipped."""
import json
import pathlib
import re
import sys

try:
    import jsonschema
    import yaml
except ImportError as error:
    print(f"skipped: {error}; install python3-jsonschema and python3-yaml")
    sys.exit(77)


def with_words(node):
    """What the library reads: PyYAML takes the word null for nothing."""
    if isinstance(node, list):
        return [with_words(item) for item in node]
    if not isinstance(node, dict):
        return node
    return {"null" if word is None else word: with_words(value) for word, value in node.items()}


def complaints(validator, text):
    document = with_words(yaml.safe_load(text))
    return [error.message for error in validator.iter_errors(document)]


def modeline(path):
    return path.read_text(encoding="utf-8").partition("\n")[0]


def main(schemas, hostile):
    draft = json.loads((schemas / "recsort.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(draft)
    validator = jsonschema.Draft7Validator(draft)
    good = sorted(schemas.glob("*.yaml"))
    bad = re.findall(r"^==== (shape-\S+)\n(.*?)^---- ", hostile.read_text(encoding="utf-8"), re.M | re.S)
    places = "  - {offset: 0, bytes: a}\n"
    fields = "fields:\n  - {name: a, type: int32}\n"
    many = f"record: R\nskip: 8\nexpect:\n{places * 1024}{fields}"
    bad.append(("too many places", many.replace(places, places * 2, 1)))
    wrong = [f"{path}: {text}" for path in good
             for text in complaints(validator, path.read_text(encoding="utf-8"))]
    wrong += [f"{name}: passes, and should not" for name, text in bad if not complaints(validator, text)]
    wrong += [f"1024 places: {text}" for text in complaints(validator, many)]
    wrong += [f"{path}: does not begin with the line that names recsort.schema.json"
              for path in good
              if modeline(path) != "# yaml-language-server: $schema=./recsort.schema.json"]
    if len(good) < 5 or len(bad) < 10:
        wrong.append(f"only {len(good)} examples and {len(bad)} hostile schemas were found")
    print("\n".join(wrong) or f"{len(good)} schemas pass, {len(bad)} hostile ones do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3])))
