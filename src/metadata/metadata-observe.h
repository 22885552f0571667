/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: the answers of the cloud's metadata service in this boot, from the file that
 * metadata/metadata-apply.c keeps. Sends no request.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * Fills node.metadatas; needs the netdevs of the node and the failures in @memory. METADATA_KNOWN
 * is an answer of this boot, as the pass that asked recorded it; the other states are of earlier
 * passes that asked and failed. A file that this service did not write counts as absent. Return: 0
 * or -ENOMEM.
 */
int observe_metadata(const struct fs *fs, struct node *n, const struct memory *memory);
