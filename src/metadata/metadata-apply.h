/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata: asks the helper for the address of a NIC or the instance's type, by helper.h. No IP is
 * spoken here. The verb keeps the answer about a NIC for this boot, and sets no address: the next
 * look finds the file, and the next plan makes of it what is wanted.
 */
#pragma once

#include "../model/metadata.h"

/**
 * metadata_ask() - what the metadata service says of one NIC
 * @path:          of the socket, rdma-provision-metadata.socket
 * @mac:           of the netdev
 * @deadline_usec: how long to wait for the answer
 * @ret:           mac, state and detail; the addresses too with METADATA_KNOWN
 *
 * Return: 0 with an answer of whatever kind; -errno as helper_ask(), -EBADMSG also when the helper
 * says what it should not.
 */
int metadata_ask(const char *path, const char *mac, uint64_t deadline_usec, struct metadata *ret);

/*
 * metadata_ask_type() - the type of this instance, "ecs.scch5.16xlarge"
 *
 * Return: 0; -EAGAIN: no metadata service answers; -errno as metadata_ask().
 */
int metadata_ask_type(const char *path, uint64_t deadline_usec, char ret[static METADATA_TYPE_LEN]);

/*
 * Parses an answer, and changes it; for metadata_ask() and its test. Fills all but the MAC. Return:
 * 0, or -EBADMSG unless it is one whole line of the helper.
 */
int metadata_parse_answer(char *line, struct metadata *ret);
