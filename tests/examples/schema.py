#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
schema.py SPEC FILE...: is each object of each file what the OpenAPI documents of Kubernetes say? SPEC is the folder
api/openapi-spec/v3 of the Go module k8s.io/kubernetes. A key that a document does not have is an error as well.
"""
import copy
import functools
import json
import pathlib
import sys

import jsonschema
import yaml

spec, failed = pathlib.Path(sys.argv[1]), 0


def strict(node):
    """An object has no keys but its own."""
    if isinstance(node, list):
        return [strict(n) for n in node]
    if not isinstance(node, dict):
        return node
    node = {key: strict(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        node.setdefault("additionalProperties", False)
    return node


@functools.lru_cache(None)
def validator(version, kind):
    name = f"apis__{version.replace('/', '__')}" if "/" in version else f"api__{version}"
    components = strict(json.loads((spec / f"{name}_openapi.json").read_text())["components"])
    group, _, number = version.rpartition("/")
    for reference, schema in components["schemas"].items():
        if {"group": group, "kind": kind, "version": number} in schema.get("x-kubernetes-group-version-kind", []):
            return jsonschema.Draft7Validator({"$ref": f"#/components/schemas/{reference}", "components": components})
    raise LookupError(f"{version} has no {kind}")


def problems(thing):
    return [f"{'.'.join(map(str, e.absolute_path))}: {e.message}"
            for e in validator(thing["apiVersion"], thing["kind"]).iter_errors(thing)]


def say(is_ok, text):
    global failed
    failed += not is_ok
    print("ok" if is_ok else "not ok", "-", text)


def put(thing, path, value):
    bad = copy.deepcopy(thing)
    at = bad
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return bad


POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "annotations": {"b": "true"}},
       "spec": {"containers": [{"name": "c", "resources": {"limits": {"rdma/hca": 1}}}]}}
say(not problems(POD), "a pod")
for path, value in ((("spec", "hostNetwrok"), True), (("spec", "hostNetwork"), "yes"), (("spec", "containers"), []),
                    (("metadata", "annotations", "b"), True), (("spec", "containers", 0, "env"), [{"value": "d"}]),
                    (("spec", "containers", 0, "resources", "limits", "rdma/hca"), [1])):
    # An empty list is well formed: the API server alone refuses it.
    say(bool(problems(put(POD, path, value))) == (value != []), f"{'.'.join(map(str, path))} = {value}")

for file in sys.argv[2:]:
    text = pathlib.Path(file).read_text()
    things = [t for t in yaml.safe_load_all(text) if t]
    wrong = [p for t in things for p in problems(t)] + (["TAG stands for something"] if "TAG" in text else [])
    say(things and not wrong, f"{file}: {wrong or 'is what Kubernetes takes'}")
sys.exit(failed > 0 or len(sys.argv) < 3)
