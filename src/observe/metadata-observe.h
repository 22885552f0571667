/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: what the cloud said of NICs in this boot, from the file that apply/metadata-apply.c
 * keeps. Asks nobody.
 */
#pragma once

#include "../model/node.h"
#include "../os/fs.h"

/*
 * What is known of NICs in the terms of the metadata service: wants netdevs and failures of the
 * node. METADATA_KNOWN is what it said in this boot, as it was kept by the pass that asked it; the
 * others are of passes before that asked and failed. A file that is not ours is none. Return: 0 or
 * -ENOMEM.
 */
int observe_metadata(const struct fs *fs, struct node *n, const struct memory *memory);
