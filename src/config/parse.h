/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parse: text to numbers, truth, time and globs, as values of settings are written.
 *
 * Knows no setting and no file. All return 0, -EINVAL when the text is something else, or -ENOMEM,
 * and take nothing around the value: no blanks, no quotes.
 */
#pragma once

#include "../model/config.h"

/*
 * Numbers are decimal, without sign or leading zeros. Booleans as systemd: yes, true, on, 1 and so
 * on. Time spans as systemd.time(7), to the microsecond: "300", "0.5", "1min 30s"; units us, ms, s,
 * min, h, d and their long names.
 */
int parse_number(const char *value, uint64_t min, uint64_t max, uint64_t *ret);
int parse_boolean(const char *value, bool *ret);
int parse_span(const char *value, uint64_t *ret_usec);

/*
 * An address that a NIC or a gateway may have, with the length of its prefix if @has_length:
 * "10.0.1.5/24", "fd00::5/64". Not accepted: unspecified, loopback, link-local and multicast ones,
 * a prefix that is a single host or everything, and of an IPv4 prefix its first and last address.
 */
int parse_ip(const char *value, bool has_length, struct ip *ret);

/**
 * parse_match() - the globs of Match= in canonical form
 * @ret: words with one blank between; hexadecimal digits of pci: and id: in lower case, as in
 * sysfs; owned; NULL for an empty @value
 *
 * Each word is one of
 *     pci:0000:41:00.0       PCI address
 *     id:15b3:101e           vendor and device, four hexadecimal digits each
 *     driver:mlx5_core       the driver bound, or the one its modalias resolves to
 *     netdev:ens1f0          name of the network interface
 *     ibdev:mlx5_0           name of the RDMA device
 * with *, ? and [...] in all of them: fnmatch(3). A glob for id: has a colon between its two parts.
 */
int parse_match(const char *value, char **ret);
