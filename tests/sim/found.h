/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Found: lives that once went wrong, by a fault of the program, or of the model where it says so.
 * Each has its number in the model of its time; once the model is another it means another life.
 * Those with a script in scripts/ stay what they were.
 */
#pragma once

#include <stdint.h>

static const struct {
	uint64_t seed;
	const char *fault;
} found[] = {
	{ 733, "\"revert --vfs\" left VFs of a card that enabled fewer than asked for" },
	{ 1095, "a function that was bound again counted as in a pod, and was handed out" },
	{ 2176, "\"revert\" left sriov_drivers_autoprobe off when a pass had ended with a write" },
	{ 237, "another number of VFs was written behind the write of a service that was killed" },
	{ 1411, "\"revert --vfs\" went on to the next PF behind a number of VFs that hung" },
	{ 4177, "VFs that were removed and made again were handed out before they were usable" },
	{ 608, "a pass without an end of its time looked again and again while it waited" },
	{ 16849, "a lost VF was handed out until the end of a pass of minutes" },
	{ 26328, "VFs that another program was making at the look were removed" },
	{ 1319,
	  "a device that the host had used was handed out when it was lost with its address" },
	{ 9574,
	  "a VF that came up with another MAC was not bound again before its RDMA device came" },
	{ 16177,
	  "a device that the plugin would not have exposed was written down once it was lost" },
	{ 1269, "no loss of a link counted after the announcement of its way up was lost" },
	{ 2445,
	  "a loss within two seconds after a pass that knew of a failed change did not count" },
	{ 8813,
	  "what the PF had for a VF was forgotten by an \"apply\" while the PF was in a pod" },
	{ 92, "an RDMA device got the PNETID of the one that had its name before" },
	{ 120, "rdma_cm's default of a device was set on the one that had got its name" },
	{ 4472, "\"revert\" left rdma_cm's defaults of a device that was renamed just before" },
	{ 31363, "\"revert\" left a metric of ours when setting the next one had failed" },
	{ 11776, "a device that a pod gave back got a PNETID of the MAC that it had there" },
	{ 10958, "a VF that waited for a name in use was told as given back, by another name" },
	{ 19580, "the metadata service was asked about the MAC that a pod had given to a PF" },
	{ 310, "a VF's link was taken down and up for a name that its PF had left a pod with" },
	{ 115738,
	  "a VF kept the MAC that its driver made up while another program had its PF down" },
	{ 1166092, "\"revert\" left sriov_drivers_autoprobe off when a number of VFs hung" },
	{ 1132549, "a bounce of an IPoIB netdev that was not announced before counted as a loss" },
	{ 1156537, "a bounce after a change of MTU behind lost announcements counted as a loss" },
	{ 62821, "model: a loss was to be counted of a device without ib_uverbs" },
	{ 1007957, "model: the same" },
	{ 1063437, "model: the same" },
	{ 1079672, "model: the netdev of an eRDMA device was pulled out of a slot alone" },
	{ 1084224, "model: the same" },
	{ 1126378, "model: an RDMA device came back from a pod after its netdev" },
	{ 1150954, "model: the same" },
	{ 1033542, "model: what a pod left was to be put back, and no pass had seen it" },
	{ 1112602, "model: an agent was faster than kubelet-ensure, which had nothing to do then" },
	{ 1223458, "model: the same" },
	{ 900075173, "a bounce of a link that was down since the boot counted as a loss" },
	{ 900078441, "VFs were made on a port of a bond to come, after a \"revert\" and a reload" },
	{ 7522, "VFs were made on a port of a bond to come, once another configuration was ready" },
	{ 40017729, "model: what a VF's PF had for it was to be known, and no pass noted it" },
	{ 60040833, "model: a route was to be put back on a function that was not handed out" },
	{ 60102131,
	  "a VF got back the name and MAC that it had before its driver was bound again" },
	{ 60176548, "model: a rule was to go while the metadata service was waited for" },
	{ 61577321,
	  "a port of a card that shares its RDMA device in a bond counted as one in a pod" },
	{ 61649272, "the same" },
	{ 61758069, "the same" },
	{ 61967429, "the same" },
	{ 61974804, "the same" },
	{ 61789631, "a VF was brought up while a write to its PF hung, and kept a random MAC" },
	{ 61842141, "what a PF had for a VF was forgotten as that was bound again while the PF was "
		    "in a pod" },
	{ 61961346, "the same" },
	{ 61748137, "model: a name was to be put back that a function out of Match= had" },
	{ 61249510, "model: a name was to be put back that a function has whose own is taken" },
	{ 60123342, "model: a name was to be put back that a function out of Match= had" },
	{ 62029282, "model: an agent corrected the kubelet's file between a plan and a look before "
		    "a write" },
	{ 62099885, "model: losses of a device were to be counted that libibverbs could not open" },
};
