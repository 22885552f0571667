/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Yaml-json: Kubernetes objects that are printed as YAML, as JSON for "--json".
 *
 * Reads text of this program alone, by libyaml: no anchors, tags or keys that are no text.
 */
#pragma once

/* @ret: a List (v1) of the documents in @yaml. Return: 0, or -ENOMEM. */
int yaml_to_json(const char *yaml, char **ret);
