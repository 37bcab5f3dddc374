#!/usr/bin/env python3
"""Checks recsort.schema.json: it must accept the example schemas, and reject the hostile ones with a
wrong shape (hostile/shape-*.yaml).

usage: check_json_schema.py SCHEMAS HOSTILE    Exit status: 0 right, 1 wrong, 77 skipped."""
import json
import pathlib
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


def complaints(validator, path):
    document = with_words(yaml.safe_load(path.read_text(encoding="utf-8")))
    return [error.message for error in validator.iter_errors(document)]


def modeline(path):
    return path.read_text(encoding="utf-8").partition("\n")[0]


def main(schemas, hostile):
    draft = json.loads((schemas / "recsort.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(draft)
    validator = jsonschema.Draft7Validator(draft)
    good = sorted(schemas.glob("*.yaml"))
    bad = sorted(hostile.glob("shape-*.yaml"))
    wrong = [f"{path}: {text}" for path in good for text in complaints(validator, path)]
    wrong += [f"{path}: passes, and should not" for path in bad if not complaints(validator, path)]
    wrong += [f"{path}: does not begin with the line that names recsort.schema.json"
              for path in good
              if modeline(path) != "# yaml-language-server: $schema=./recsort.schema.json"]
    if len(good) < 5 or len(bad) < 10:
        wrong.append(f"only {len(good)} examples and {len(bad)} hostile schemas were found")
    print("\n".join(wrong) or f"{len(good)} schemas pass, {len(bad)} hostile ones do not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(pathlib.Path, sys.argv[1:3])))
