/* SPDX-License-Identifier: Apache-2.0 */
#include "reason.h"

/* A row that does not say its severity is a warning. */
static const struct {
	const char *code, *meaning, *advice;
	enum severity severity;
} reasons[] = {
	[REASON_NONE] = { "", "", "", SEVERITY_NONE },

	[REASON_CONFIG_INVALID] = {
		"config-invalid",
		"The configuration is malformed and is not used",
		"Correct the line that is named, then \"rdma-provision check\" and \"systemctl "
		"reload rdma-provision\".",
		SEVERITY_ERROR,
	},
	[REASON_CONFIG_UNKNOWN] = {
		"config-unknown",
		"The configuration has a key or section this version does not know",
		"Correct its name or remove it (\"rdma-provision check\" names the nearest one), "
		"or install the version that knows it.",
	},

	[REASON_CONFIG_CHANGED] = {
		"configuration-changed",
		"The configuration on disk is another one than the service runs with",
		"Run \"systemctl reload rdma-provision\".",
	},

	[REASON_MODULE_MISSING] = {
		"module-missing",
		"A kernel module that is needed is not installed for the running kernel",
		"Install the package that has it for this kernel (see uname -r): the kernel's "
		"extra modules, rdma-core or the vendor's driver; after a kernel update rebuild "
		"it (dkms autoinstall).",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_BLACKLISTED] = {
		"module-blacklisted",
		"A kernel module that is needed is blacklisted, or an install command stands in for "
		"it",
		"Find the line with \"modprobe --showconfig | grep -E '^(blacklist|install)'\" or "
		"modprobe.blacklist= on the kernel command line, remove it, rebuild the initramfs "
		"if it is in there, then "
		"\"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_NO_DRIVER] = {
		"no-driver",
		"The function is bound to no driver",
		"Look for the driver's error with \"dmesg\" and the PCI address; a function that "
		"is bound to vfio-pci or to nothing on purpose should not match any [Device] "
		"section.",
	},
	[REASON_DKMS_BUILDING] = {
		"dkms-building",
		"A kernel module that is needed is still being built by DKMS",
		"Nothing to do: it is loaded when it is there; after ReadyTimeoutSec= look in "
		"\"journalctl -u dkms\" and \"dkms status\".",
	},
	[REASON_MODULE_UNREADABLE] = {
		"module-unreadable",
		"The module's file cannot be read, so what works now is not unloaded",
		"See what \"modinfo\" says of the file: install the package that has it anew; a "
		"compressed file (.xz, .zst) needs a kmod that knows the format (kmod --version).",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_VERMAGIC] = {
		"module-vermagic",
		"The module was built for another kernel, or its file is damaged",
		"\"dmesg\" has the line with \"version magic\" or \"symbol version\": build it for "
		"the running kernel (dkms autoinstall) or install the package for it.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_SYMBOL] = {
		"module-symbol",
		"The module needs a symbol that the loaded modules do not have",
		"\"dmesg\" has the line with \"Unknown symbol\": it was built against another RDMA "
		"stack; build it against the one in use (kernel or OFED/DOCA), then "
		"\"depmod\" and \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_REBUILT] = {
		"module-rebuilt",
		"The module's file is another build than the one that is loaded, so what works now is not unloaded",
		"Drain the node and reboot: the driver on disk is loaded then, in the mode that is wanted.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_SIGNATURE] = {
		"module-signature",
		"The kernel does not accept the module's signature",
		"Secure Boot is on: sign the module with a key the machine knows (mokutil "
		"--import), or install the distribution's own.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_FORBIDDEN] = {
		"module-forbidden",
		"The kernel forbids the module",
		"Look for module_blacklist= on the kernel command line, for lockdown in "
		"/sys/kernel/security/lockdown and for kernel.modules_disabled; remove what is "
		"not meant, and reboot.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_PARAMETER] = {
		"module-parameter",
		"The module does not accept the value of one of its parameters",
		"\"dmesg\" names the parameter; compare the lines that \"modprobe --showconfig\" "
		"has for it with \"modinfo\", and correct the file.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_NO_DEVICE] = {
		"module-no-device",
		"The module found no device of its own and refused to be loaded",
		"See with \"lspci -nn\" whether the card is there and bound to nobody else, and "
		"look in \"dmesg\" for the driver's words.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_PORT_TAKEN] = {
		"module-port-taken",
		"A port that the driver reserves when it is loaded is taken",
		"Look with \"ss -lntup\", in every network namespace: eRDMA in compat mode takes 16 "
		"TCP ports from 30608 (ReservePortsBase= moves them), built with MAD also UDP "
		"4791, which rdma_rxe takes as well.",
		SEVERITY_ERROR,
	},
	[REASON_PARAMETER_MISSING] = {
		"parameter-missing",
		"The installed driver has not the parameter that this mode needs",
		"The in-tree erdma knows no compat_mode: install the vendor's driver (DKMS) for "
		"the running kernel, or set [Driver] Mode=default.",
		SEVERITY_ERROR,
	},
	[REASON_PARAMETER_MISMATCH] = {
		"parameter-mismatch",
		"The driver was loaded, but its parameter has not the value that was asked for",
		"Compare /sys/module/erdma/parameters with \"modinfo erdma\" and \"dmesg\"; if "
		"another file sets it, \"rdma-provision plan\" names that.",
		SEVERITY_ERROR,
	},
	[REASON_DRIVER_IN_USE] = {
		"driver-in-use",
		"The driver is in the wrong mode, and cannot be reloaded while it is in use",
		"Drain the node and reboot: the mode is set before anything runs; or end the "
		"users that are named, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_DRIVER_BUILTIN] = {
		"driver-builtin",
		"The driver is built into the kernel, where its parameters cannot be changed",
		"Set MODULE.PARAMETER=VALUE on the kernel command line and reboot.",
		SEVERITY_ERROR,
	},
	[REASON_OPTION_CONFLICT] = {
		"option-conflict",
		"Somebody else's module option asks for the opposite",
		"Remove the line that is named, and rebuild the initramfs if it is in there.",
		SEVERITY_ERROR,
	},
	[REASON_OPTION_STALE] = {
		"option-stale",
		"A file of rdma-provision still sets a module option that the configuration does "
		"not ask for any more",
		"In /etc: \"rdma-provision bake\" writes it anew, \"rdma-provision bake --undo\" "
		"removes it; rebuild the initramfs if it is in there. In /run: \"rdma-provision "
		"early\", or the next boot.",
	},
	[REASON_NOT_OFED] = {
		"not-ofed",
		"Mode=ofed is asked for, but the driver is not of an OFED or DOCA stack",
		"Install DOCA-OFED or MLNX_OFED for the running kernel and reboot, or set [Driver] "
		"Mode=default; GPUDirect also works with the kernel's own driver and dmabuf.",
		SEVERITY_ERROR,
	},
	[REASON_SMC_WITH_OFED] = {
		"smc-with-ofed",
		"The module smc and driver mode ofed cannot be used together",
		"Keep smc from being loaded ([SMC] Enable=no; modules-load.d, tools of smc-tools) or "
		"set [Driver] Mode=default or compat.",
	},
	[REASON_PORTS_BUSY] = {
		"ports-busy",
		"Another process listens on a TCP port that eRDMA reserves in compat mode",
		"Set [Driver] ReservePortsBase= to the first of 16 free ports, or end the process "
		"that \"ss -lntp\" names and run \"rdma-provision apply\"; at boot the driver "
		"comes first.",
		SEVERITY_ERROR,
	},
	[REASON_PORTS_EPHEMERAL] = {
		"ports-ephemeral",
		"The TCP ports that eRDMA reserves are also given to outgoing connections",
		"Set [Driver] ReservePortsBase= outside of net.ipv4.ip_local_port_range, or name "
		"the 16 ports in net.ipv4.ip_local_reserved_ports.",
	},
	[REASON_PORTS_NODEPORT] = {
		"ports-nodeport",
		"The TCP ports that eRDMA reserves lie in the range of Kubernetes' NodePorts",
		"Set [Driver] ReservePortsBase= outside of 30000 to 32767 (and of "
		"net.ipv4.ip_local_port_range), or no Service gets these NodePorts on this node.",
	},
	[REASON_ROCE_PORT_BUSY] = {
		"roce-port-busy",
		"UDP port 4791, which eRDMA built with MAD takes in compat mode, is taken",
		"Unload rdma_rxe (\"rdma link delete\", \"modprobe -r rdma_rxe\"): both cannot be "
		"on one node.",
	},
	[REASON_PEERMEM_FAILED] = {
		"peermem-failed",
		"nvidia_peermem is not loaded, so GPUDirect RDMA works with dmabuf only",
		"Unknown symbol, or built without the peer-memory interface: the NVIDIA driver was "
		"built against another RDMA stack or before OFED was there, reinstall it after OFED; NCCL 2.27 and newer do without it, with dmabuf. "
		"NvidiaPeermem=no ends this.",
	},

	[REASON_NETNS_BUSY] = {
		"netns-busy",
		"The RDMA namespace mode cannot change while other network namespaces exist",
		"Reboot: rdma-provision-early sets it before any other namespace exists; an "
		"initramfs that loads ib_core must be rebuilt first.",
		SEVERITY_ERROR,
	},

	[REASON_NO_SRIOV] = {
		"no-sriov",
		"The function offers no SR-IOV",
		"Enable SR-IOV in the card's firmware (mlx5: mstconfig SRIOV_EN=1 and "
		"NUM_OF_VFS) and in the BIOS, then power cycle; where neither can be had use "
		"VirtualFunctions=exclusive.",
		SEVERITY_ERROR,
	},
	[REASON_TOO_MANY_VFS] = {
		"too-many-vfs",
		"More virtual functions are asked for than the card has",
		"Lower Count= to sriov_totalvfs or use Count=max; on mlx5 raise NUM_OF_VFS in "
		"the firmware (mstconfig) and power cycle.",
		SEVERITY_ERROR,
	},
	[REASON_VF_IN_USE] = {
		"vf-in-use",
		"The number of virtual functions cannot change while one of them is in use",
		"Drain the node and reboot: the number is set at boot, before anything runs; or "
		"end the users that are named, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_PCI_STUCK] = {
		"pci-stuck",
		"A write to a PCI function has not returned: its devices are not handed out, and no "
		"number of VFs is changed until it does",
		"Save \"dmesg\" and \"rdma-provision capture\" for the vendor, then drain and "
		"reboot the node; if it happens again the card's firmware or hardware is faulty.",
		SEVERITY_ERROR,
	},
	[REASON_NODE_NIC] = {
		"node-nic",
		"This function carries the node itself, so nothing of it is changed or moved",
		"Leave it out of Match=. If its VFs or MTU are meant, name it there by pci: or "
		"netdev: without a glob; if another NIC is the node's, give that the best default "
		"route, or the kubelet its address by --node-ip.",
	},
	[REASON_PORT_IN_USE] = {
		"port-in-use",
		"The host uses the network device of this function, which a pod would take away",
		"Remove its addresses, its routes, or its bond, team or bridge, also from the "
		"network configuration; or set [DevicePlugin] Type=rdma-shared, which moves nothing; "
		"or leave it out of Match=.",
	},
	[REASON_PF_IN_LAG] = {
		"pf-in-lag",
		"The card is in a bond that is or becomes a RoCE LAG, which virtual functions end",
		"Use VirtualFunctions=exclusive for bonded cards, so that the bond's RDMA device "
		"is handed out; or take the card out of the bond, also in the file that is "
		"named, and reboot; or set all its ports to switchdev (devlink dev eswitch set) "
		"before they are bonded.",
		SEVERITY_ERROR,
	},
	[REASON_PF_SICK] = {
		"pf-sick",
		"The physical function is not healthy, or a driver failed or took more than 20 s on "
		"one of its VFs: its other VFs are left alone",
		"Look in \"dmesg\" for the PCI address and at \"devlink health\". The service "
		"tries again when something changes; \"systemctl restart rdma-provision\" makes it "
		"try now. If it does not recover: power cycle, then new firmware or another card.",
	},
	[REASON_PF_DOWN] = {
		"pf-down",
		"The driver makes virtual functions only while the network device is up",
		"It is brought up first; if it stays down see why with \"dmesg\" and \"ip -d "
		"link\", or whether a bond it belongs to keeps it down.",
	},
	[REASON_DRIVER_CONTAINER] = {
		"driver-container",
		"A container with NVIDIA's driver is loading it, and makes virtual functions itself",
		"Wait until it is ready (\"kubectl get pods -A\", the network operator's pod on this node). "
		"If there is none any more, remove what it left: /run/mellanox/drivers.",
	},
	[REASON_VF_BUSY] = {
		"vf-busy",
		"Somebody else made virtual functions, or the card is being reset",
		"Find who else sets sriov_numvfs (another operator, a udev rule, a script of the "
		"image) and leave one of them; then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_VF_DRIVER] = {
		"vf-driver",
		"The driver of the physical function makes no virtual functions",
		"Install a driver with SR-IOV for this card (mlx5: a kernel with "
		"CONFIG_MLX5_ESWITCH, which cloud kernels leave out), or use "
		"VirtualFunctions=exclusive.",
		SEVERITY_ERROR,
	},
	[REASON_VF_REJECTED] = {
		"vf-rejected",
		"The driver does not take this number of virtual functions",
		"Look in \"dmesg\" for the PCI address: the driver says there which numbers it "
		"takes, or which other feature (XDP, another eswitch mode) must be off.",
		SEVERITY_ERROR,
	},
	[REASON_VF_NO_ROOM] = {
		"vf-no-room",
		"The kernel has no memory window or no bus numbers for the virtual functions",
		"Enable SR-IOV, ARI and \"Above 4G decoding\" (MMIO high size) in the BIOS; else "
		"boot with pci=realloc where \"dmesg\" says \"not enough MMIO resources\", or "
		"pci=assign-busses where it says \"bus number out of range\".",
		SEVERITY_ERROR,
	},
	[REASON_VF_FIRMWARE] = {
		"vf-firmware",
		"The card's firmware did not enable the virtual functions it offers",
		"Look in \"dmesg\" for the PCI address, compare NUM_OF_VFS in the firmware "
		"(mstconfig) with Count=, and power cycle; if it stays, update the firmware.",
		SEVERITY_ERROR,
	},
	[REASON_VF_ASSIGNED] = {
		"vf-assigned",
		"A virtual function is assigned to a virtual machine",
		"End the virtual machine, then \"rdma-provision apply\"; or drain the node and "
		"reboot.",
		SEVERITY_ERROR,
	},
	[REASON_VF_FOREIGN] = {
		"vf-foreign",
		"Virtual functions belong to another program, so they are neither changed nor handed out",
		"It has bound them to a driver of its choice (vfio-pci) or made vDPA devices of them. "
		"To get them back, let it release them and clear \"driver_override\", then "
		"\"rdma-provision apply\".",
	},
	[REASON_VF_WITHOUT_RDMA] = {
		"vf-without-rdma",
		"Virtual functions of this driver have no RDMA, so none are made",
		"Use VirtualFunctions=exclusive, so that the physical function is handed out; or install "
		"a driver of the vendor with RDMA in virtual functions.",
		SEVERITY_ERROR,
	},
	[REASON_VF_SETTING_UNSUPPORTED] = {
		"vf-setting-unsupported",
		"The driver has no such setting for virtual functions, or its card refuses it",
		"Remove the key from the [Device] section; on mlx5 it needs the legacy eswitch "
		"mode and a kernel with CONFIG_MLX5_ESWITCH; on a BlueField in DPU mode the card's "
		"own system sets it, and Identity=keep and Trust=keep are right here.",
	},
	[REASON_NO_IPOIB] = {
		"no-ipoib",
		"GUIDs are given to virtual functions through the card's IPoIB network device, "
		"which is not there",
		"Install the kernel's extra modules or the vendor's driver with ib_ipoib, and see "
		"that it is neither blacklisted nor its device in another namespace; where the "
		"provider gives them GUIDs set Identity=keep.",
	},
	[REASON_IDENTITY_UNSTABLE] = {
		"identity-unstable",
		"The card tells no permanent MAC, so its virtual functions' follow from its present "
		"one",
		"Do not change the MAC of the physical function before its virtual functions are "
		"made, or set theirs yourself with Identity=keep.",
	},
	[REASON_AUTOPROBE_OFF] = {
		"autoprobe-off",
		"sriov_drivers_autoprobe is off, and not because of this service",
		"Somebody wants virtual functions without a driver, so none can be bound: write 1 "
		"to sriov_drivers_autoprobe of the card, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_GPU_SHARED_MULTI] = {
		"gpu-shared-multi",
		"Several virtual functions of a card are shared on a node with GPUs",
		"Nothing is broken; for GPU jobs use VirtualFunctions=shared or exclusive: with "
		"several functions the GPUs compete for one port.",
	},
	[REASON_ZERO_GUID] = {
		"zero-guid",
		"The RDMA device has a node GUID of zero, with which connections cannot be made",
		"End what uses the virtual function, then \"rdma-provision apply\"; if it stays, set "
		"its MAC through the physical function (\"ip link set PF vf N mac\") and bind its "
		"driver again: in a virtual machine that got the function, on its host.",
		SEVERITY_ERROR,
	},
	[REASON_VF_IDENTITY] = {
		"vf-identity",
		"The virtual function came up with another MAC or GUID than it was given",
		"Its driver is bound once more, as long as nothing uses it; if it stays, "
		"\"rdma-provision explain\" with its address has what the driver said: update the "
		"card's firmware and driver, or set Identity=keep.",
		SEVERITY_ERROR,
	},

	[REASON_NO_DEVICES] = {
		"no-devices",
		"No device of this node matches any [Device] section",
		"Compare Match= with \"lspci -nn\" and the names in /sys/class/net and "
		"/sys/class/infiniband; it matches physical functions only.",
	},
	[REASON_DEVICES_MISSING] = {
		"devices-missing",
		"Fewer cards are there than Expect= asks for",
		"See with \"lspci\" whether the card is on the bus: if not, reseat or attach it; "
		"if it is, Match= or Expect= is wrong.",
	},
	[REASON_NO_IBDEV] = {
		"no-ibdev",
		"The function has no RDMA device",
		"Load the driver's RDMA part (mlx5_ib, erdma, irdma) and look in \"dmesg\": "
		"symbol errors mean that it was built for another RDMA stack.",
	},
	[REASON_VERBS_FAILED] = {
		"verbs-failed",
		"libibverbs cannot open the RDMA device",
		"Install the user-space provider that fits the driver (ibverbs-providers, or the "
		"vendor's rdma-core; eRDMA needs 43 or newer) and try \"ibv_devinfo -d\" with "
		"the device.",
		SEVERITY_ERROR,
	},
	[REASON_NO_UVERBS] = {
		"no-uverbs",
		"The RDMA device has no uverbs character device",
		"Load ib_uverbs (\"modprobe ib_uverbs\") and see that udev makes "
		"/dev/infiniband/uverbsN.",
	},
	[REASON_NO_UMAD] = {
		"no-umad",
		"The RDMA device has no umad character device, which the device plugin asks for",
		"Load ib_umad (\"modprobe ib_umad\"); eRDMA has one only in compat mode with a "
		"driver built with MAD: iWARP devices cannot be handed out by this plugin.",
	},
	[REASON_NO_RDMA_CM] = {
		"no-rdma-cm",
		"/dev/infiniband/rdma_cm is not there, which the device plugin asks for",
		"Load rdma_ucm (\"modprobe rdma_ucm\"); if it is not found install the kernel's "
		"extra modules.",
	},
	[REASON_PORT_DOWN] = {
		"port-down",
		"The RDMA port is not ACTIVE",
		"Check cable, transceiver and switch port (\"ethtool\" with the netdev; "
		"InfiniBand: \"ibstat\", and whether a subnet manager runs).",
	},
	[REASON_NO_GID] = {
		"no-gid",
		"The RDMA port has no RoCE v2 GID of its own network device",
		"Give the network device an address and bring it up; if it has one, see whether "
		"its GID belongs to a bond above it in "
		"/sys/class/infiniband/*/ports/*/gid_attrs/ndevs.",
	},
	[REASON_NO_IPV6_GID] = {
		"no-ipv6-gid",
		"The RDMA port has no RoCE v2 GID of a global IPv6 address, which IPv6=ra waits for",
		"See whether a router advertises a prefix on this network (\"ip -6 route show proto "
		"ra\"); the kernel asks for it only when the link comes up, else its next "
		"advertisement has to come.",
	},
	[REASON_IN_POD] = {
		"in-pod",
		"The device is in the network namespace of a pod",
		"Nothing to do: it comes back when the pod ends.",
		SEVERITY_NONE,
	},

	[REASON_MTU_TOO_LARGE] = {
		"mtu-too-large",
		"The MTU asked for is larger than the network device allows",
		"Lower MTU= to the maxmtu that \"ip -d link show\" tells for the device, and to "
		"what the switches carry.",
		SEVERITY_ERROR,
	},
	[REASON_MTU_UNDER_VFS] = {
		"mtu-under-vfs",
		"The MTU is never lowered below virtual functions that exist",
		"Raise MTU= to what the device has now, or drain the node and reboot: the MTU is "
		"set before the virtual functions are made.",
		SEVERITY_ERROR,
	},
	[REASON_MTU_OF_BOND] = {
		"mtu-of-bond",
		"MTU= is not set on a port of a bond, team or bridge, which gives its ports its own",
		"Set the MTU of the bond where the bond is made: in the files of the network manager.",
	},

	[REASON_ADDRESS_AMBIGUOUS] = {
		"address-ambiguous",
		"StaticAddress= is of one NIC, and its section matches several",
		"Give each NIC a section [Device NAME] of its own, for example with "
		"Match=pci:0000:41:00.0.",
		SEVERITY_ERROR,
	},
	[REASON_METADATA_WAITING] = {
		"metadata-waiting",
		"The cloud's metadata service has not told the address of this NIC yet",
		"It is asked again when the link comes up, and at growing intervals: see that the "
		"NIC is attached and has link, that the service can be reached (100.100.100.200), and "
		"\"systemctl status rdma-provision-metadata.socket\".",
	},
	[REASON_METADATA_REFUSED] = {
		"metadata-refused",
		"What the cloud's metadata service says of this NIC cannot be right, and is not used",
		"See what answers at http://100.100.100.200, or set the address with [Route] "
		"Address=static.",
		SEVERITY_ERROR,
	},
	[REASON_ROUTE_OVERRULED] = {
		"route-overruled",
		"The kernel sends packets of this NIC's address by another way",
		"A rule before preference 30114 catches them: \"ip rule\", \"ip -6 rule\"; give "
		"it a condition that leaves this address out.",
	},
	[REASON_NIC_IN_USE] = {
		"nic-in-use",
		"A process has the RDMA device of this NIC open, so that its routes and settings stay",
		"End the processes (\"rdma resource show cm_id\" and \"qp\" name them), then "
		"\"rdma-provision revert\".",
	},
	[REASON_ROUTE_FOREIGN] = {
		"route-foreign",
		"Another agent has set a route for the network of this NIC",
		"Two agents ranking one NIC will quarrel: stop the other one (for example the agent "
		"of the eRDMA controller), or set [Route] Manage=no. \"ip route show table all\" has "
		"the route; it is never replaced.",
	},
	[REASON_ROUTE_NOT_RANKED] = {
		"route-not-ranked",
		"A network manager made the route of this NIC's network itself, with a metric above "
		"those of other NICs",
		"Set the metric where the route is made (NetworkManager: \"nmcli connection modify NAME "
		"ipv4.route-metric N ipv6.route-metric N\", then \"nmcli device reapply NETDEV\"): "
		"only routes that the kernel made for an address are ranked here.",
	},
	[REASON_DEFAULT_ROUTE] = {
		"default-route",
		"The NIC has a default route, so sriov-network-device-plugin does not hand it out",
		"Let another NIC have the node's default route: keep DHCP and the network manager "
		"off this one.",
	},
	[REASON_TERWAY_ENI] = {
		"terway-eni",
		"Terway manages the ENI of this eRDMA device, and moves its addresses to pods",
		"Take the ENI out of Terway's pool: tag it, and name the tag in eni_tag_filter of "
		"Terway's configuration.",
	},
	[REASON_SYSCTL_STRICT] = {
		"sysctl-strict",
		"A setting for all network devices is stricter than what this NIC needs",
		"The larger of both counts, and those for all are never changed here: lower it in "
		"/etc/sysctl.d.",
	},
	[REASON_IPV6_ERDMA] = {
		"ipv6-erdma",
		"IPv6=ra is asked for, and the network of eRDMA has no IPv6",
		"Set [Route] IPv6=no on nodes with eRDMA.",
		SEVERITY_ERROR,
	},
	[REASON_GID_PENDING] = {
		"gid-pending",
		"An address of the device is not in its GID table yet",
		"Normally a moment: if it stays, see whether the table is full "
		"(/sys/class/infiniband/*/ports/*/gids).",
	},
	[REASON_HELD] = {
		"held",
		"\"rdma-provision revert\" was run: nothing is changed until the next start or "
		"reload of the service",
		"When its settings are as you want them: \"systemctl reload rdma-provision\".",
	},

	[REASON_SMC_WITH_COMPAT] = {
		"smc-with-compat",
		"SMC is asked for in driver mode compat, for which nobody vouches",
		"Set [Driver] Mode=default, in which SMC-R over eRDMA is supported, or [SMC] "
		"Enable=auto to go without SMC here.",
	},
	[REASON_SMC_NO_TABLE] = {
		"smc-no-table",
		"The module smc is loaded, but has no table of PNETIDs",
		"It is not the kernel's own (\"modinfo -n smc\"; OFED brings another): take it away, "
		"or set [SMC] Enable=no.",
		SEVERITY_ERROR,
	},

	[REASON_KUBELET_FILE_REFUSED] = {
		"kubelet-file-refused",
		"The kubelet's configuration file cannot be edited safely",
		"Set topologyManagerPolicy in the file by hand, or let the tool that writes the "
		"file set it; it was left as it is.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_FLAG_WINS] = {
		"kubelet-flag-wins",
		"A flag on the kubelet's command line wins over its configuration file",
		"Remove that flag from the kubelet's unit, its drop-ins or its environment file, then "
		"restart the kubelet.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_NUMA_NODES] = {
		"kubelet-numa-nodes",
		"The kubelet refuses a topology policy with more than 8 NUMA nodes",
		"Leave TopologyManagerPolicy= empty here, reduce NUMA nodes in the BIOS (NPS, "
		"SNC), or set the kubelet's option max-allowable-numa-nodes yourself.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_NO_FILE] = {
		"kubelet-no-file",
		"No configuration file of the kubelet was found",
		"Join the node first (kubeadm writes /var/lib/kubelet/config.yaml): the policy "
		"is set at the kubelet's next start.",
	},
	[REASON_KUBELET_MANAGED] = {
		"kubelet-managed",
		"The kubelet's configuration belongs to the operating system's own agent",
		"Set the policy where that agent takes it from: a KubeletConfig resource (OpenShift), "
		"settings.kubernetes (Bottlerocket), machine.kubelet.extraConfig (Talos).",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_VALUE_UNKNOWN] = {
		"kubelet-value-unknown",
		"The kubelet has a value that is not known here, or is misspelt and stricter than asked",
		"Correct it or take it out where it is said; what is not understood is never overwritten.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_UNCLEAR] = {
		"kubelet-unclear",
		"How the kubelet is started is not understood",
		"Look at its unit, drop-ins and environment files, and say --config in a plain way.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_CPU_RESERVATION] = {
		"kubelet-cpu-reservation",
		"The kubelet would not start with the static CPU policy",
		"Reserve CPUs with kubeReserved, systemReserved or reservedSystemCPUs.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_CPU_STATE] = {
		"kubelet-cpu-state",
		"The kubelet has run in this boot with another CPU policy",
		"Reboot the node: before the first start of the kubelet policy and state are changed "
		"together.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_DEFERRED] = {
		"kubelet-deferred",
		"The kubelet's configuration is right, but it was started before that",
		"It takes effect at the kubelet's next start; restart it when that suits.",
	},

	[REASON_NOT_READY] = {
		"not-ready",
		"The node is not finished, so nothing is written for the device plugin yet",
		"Wait: \"rdma-provision wait\" comes back when the node is ready, or degraded "
		"after ReadyTimeoutSec=.",
		SEVERITY_NONE,
	},
	[REASON_NETNS_EXCLUSIVE] = {
		"netns-exclusive",
		"The device plugin exits in the RDMA namespace mode \"exclusive\"",
		"Set [RDMA] NetnsMode=shared and reboot, or [DevicePlugin] Type=none.",
		SEVERITY_ERROR,
	},
	[REASON_DEVICE_LOST] = {
		"device-lost",
		"A device that was usable is not, and is looked at once more before the plugin's "
		"file changes",
		"Nothing to do: after SettleSec= the file is written without it, if it does not come "
		"back.",
		SEVERITY_NONE,
	},
	[REASON_PLUGIN_NAME] = {
		"plugin-name",
		"The device plugin does not take this name of a resource, or not twice",
		"Change Resource=: k8s-rdma-shared-dev-plugin takes letters, digits and \"_\", and "
		"each name once whatever its prefix; sriov-network-device-plugin also \"-\".",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_FILE] = {
		"plugin-file",
		"The device plugin would refuse its file",
		"Correct what is named; a file that rdma-provision wrote is written anew by "
		"\"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_EMPTY] = {
		"plugin-empty",
		"The device plugin would start and expose no device at all",
		"See what \"rdma-provision check\" says of each device that is left out.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_CLASS] = {
		"plugin-class",
		"The device plugin looks at network controllers (PCI class 02) only",
		"Hand this device out with [DevicePlugin] Type=hca, or with a plugin of its vendor.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_NO_MAD] = {
		"plugin-no-mad",
		"eRDMA in default mode has no umad device, which the shared device plugin asks for",
		"Set [Driver] Mode=compat (with a driver built with MAD), [DevicePlugin] Type=hca, or "
		"Type=none beside the vendor's own plugin.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_NOT_SELECTED] = {
		"plugin-not-selected",
		"The plugin's file has no words for this device that would not name others as well",
		"Give unlike NICs pools of their own ([Device NAME] Resource=), or use [DevicePlugin] "
		"Type=sriov, which takes PCI addresses.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_PF_WITH_VFS] = {
		"plugin-pf-with-vfs",
		"The device plugin hides a physical function that has virtual ones",
		"Set VirtualFunctions=exclusive for this NIC to hand the NIC itself out, or shared or "
		"shared-multi to hand its virtual functions out.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_DEFAULT_ROUTE] = {
		"plugin-default-route",
		"The device plugin hides the NIC that holds the node's IPv4 default route",
		"Leave this NIC to the node (take it out of Match=), hand out a virtual function of "
		"it, or put the default route on another interface.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_TWO_POOLS] = {
		"plugin-two-pools",
		"Two pools of the device plugin claim this device; with Type=sriov the first one gets it",
		"Let only one [Device NAME] section match it.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_FOREIGN] = {
		"plugin-foreign",
		"The device plugin would hand out this device too, which no [Device] section hands out",
		"Take a device it should not have away from the driver, or use a plugin that selects "
		"devices: Type=rdma-shared or sriov.",
	},
	[REASON_PLUGIN_RESTART_NEEDED] = {
		"plugin-restart-needed",
		"The running device plugin has not read its file since it changed, and never will",
		"Restart it: \"kubectl -n kube-system delete pod\" with the plugin's pod on this node; "
		"[DevicePlugin] Manifest= has it restarted by itself.",
		SEVERITY_ERROR,
	},
	[REASON_MANIFEST_FOREIGN] = {
		"manifest-foreign",
		"The file of Manifest= was written by somebody else, and is left as it is",
		"Name another file in Manifest=, or remove this one.",
		SEVERITY_ERROR,
	},

	[REASON_OUTPUT_LAST] = {
		"output-last",
		"Files of [Output] tell of the node as it is, so they are written after all changes",
		"Nothing: the pass that makes the changes writes them in its end.",
		SEVERITY_NONE,
	},
	[REASON_OUTPUT_FOREIGN] = {
		"output-foreign",
		"A file of [Output], or that of ConfigFile=, is there and was not written by this service",
		"Move it away, or name another file: files of others are never replaced.",
		SEVERITY_ERROR,
	},
	[REASON_OUTPUT_NO_FOLDER] = {
		"output-no-folder",
		"The folder of a file of [Output] is not there",
		"Install what reads it (NFD, node_exporter), make the folder, or name another; "
		"then \"systemctl reload rdma-provision\".",
	},
	[REASON_OUTPUT_READ_ONLY] = {
		"output-read-only",
		"A file for others is in a folder that the service may not write",
		"Name another folder, or allow this one: ReadWritePaths= by \"systemctl edit "
		"rdma-provision.service\", then restart the service.",
		SEVERITY_ERROR,
	},
	[REASON_OUTPUT_FULL] = {
		"output-full",
		"There is no room for a file for others",
		"Free space or inodes on that file system; it is tried again by itself.",
		SEVERITY_ERROR,
	},
	[REASON_OUTPUT_LINK] = {
		"output-link",
		"A part of the path of a file for others is a link, which is not followed",
		"Name the place that it leads to, or make a folder of it.",
		SEVERITY_ERROR,
	},
	[REASON_NCCL_NONE] = {
		"nccl-none",
		"No port is fit for NCCL: a RoCE v2 GID of an IPv4 address, on a netdev with "
		"carrier",
		"Give the RDMA interfaces IPv4 addresses and bring them up; \"rdma-provision "
		"explain DEVICE\" shows the GIDs of each.",
	},
	[REASON_NCCL_MIXED_INDEX] = {
		"nccl-mixed-index",
		"The fastest ports have their GIDs at different indexes, and NCCL takes one for "
		"all",
		"Remove what came before the IPv4 address on one of them (other addresses, "
		"VLANs), or with NCCL 2.21 or later set NCCL_IB_GID_INDEX=-1.",
	},

	[REASON_PCIE_SLOW] = {
		"pcie-slow",
		"The PCIe link of the card is slower or narrower than both of its ends could have it",
		"Look for link errors (\"lspci -vvv\", dmesg), reseat the card, and check slot, riser "
		"and the firmware's settings for the slot.",
	},
	[REASON_RATE_BELOW_SIBLINGS] = {
		"rate-below-siblings",
		"A port of the card is slower than those of the same cards beside it",
		"Check its cable, transceiver and the switch's port, and whether a speed is forced "
		"(\"ethtool NETDEV\"): a job over all NICs goes as fast as the slowest.",
	},
	[REASON_MEMLOCK_LIMITED] = {
		"memlock-limited",
		"Containers may lock only little memory, so registering memory for RDMA fails with "
		"ENOMEM where they do not have CAP_IPC_LOCK",
		"Set LimitMEMLOCK=infinity in a drop-in of the unit (\"systemctl edit UNIT\") and "
		"restart it, or give the pods the capability IPC_LOCK.",
	},
	[REASON_IOMMU_TRANSLATES] = {
		"iommu-translates",
		"An IOMMU translates each access of the card to memory, which costs speed",
		"Where the cards are trusted, add iommu=pt to the kernel command line and reboot.",
	},
	[REASON_CONTESTED] = {
		"contested",
		"Somebody else undoes again and again what is set here",
		"Find out who (another agent, a script, systemd-networkd, NetworkManager) and let one of "
		"the two manage this. It is set again after the time that is told, and at once by "
		"\"rdma-provision apply\". For systemd-networkd and routes link "
		"/usr/lib/rdma-provision/networkd.conf.d/rdma-provision.conf into "
		"/etc/systemd/networkd.conf.d/ and restart it.",
	},
	[REASON_NO_EFFECT] = {
		"no-effect",
		"A change has no effect",
		"It is tried again. When that does not help, find out who else changes this (another "
		"agent, a script, NetworkManager), and look in \"dmesg\" at that time.",
	},
	[REASON_ACTION_FAILED] = {
		"action-failed",
		"A change was tried and failed",
		"Look in \"journalctl -u rdma-provision\" and \"dmesg\" at that time, remove the "
		"cause, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_ACTION_TIMEOUT] = {
		"action-timeout",
		"A change did not come back in time",
		"The driver or the firmware hangs: save \"dmesg\" and \"rdma-provision capture\" "
		"for the vendor, then drain and reboot the node.",
		SEVERITY_ERROR,
	},
	[REASON_WORKER_DIED] = {
		"worker-died",
		"The worker process of a pass ended before it was done",
		"Look in \"journalctl -u rdma-provision\" for its signal and \"coredumpctl "
		"list\"; the next pass starts afresh, \"systemctl reload rdma-provision\" starts "
		"it now.",
		SEVERITY_ERROR,
	},
	[REASON_READY_TIMEOUT] = {
		"ready-timeout",
		"ReadyTimeoutSec= is over, and a pass of the service still goes on",
		"The node is used as it is meanwhile. \"systemctl status rdma-provision\" names the "
		"step that takes so long; when it ends, the state is that of the node again.",
	},
	[REASON_BOOT_LOOP] = {
		"boot-loop",
		"Three boots failed at this step, so it is left out",
		"Save \"dmesg\" and the journals of these boots (\"journalctl -b -1\") for the "
		"vendor. Another configuration, kernel, driver, firmware or version of "
		"rdma-provision is tried at the next boot; \"rdma-provision apply\" tries it now.",
		SEVERITY_ERROR,
	},
};
_Static_assert(ELEMENTSOF(reasons) == _REASON_N, "a line for every reason");

/* The number may come from another process: one that is none has no words. */
static size_t row(enum reason r)
{
	return (unsigned)r < _REASON_N ? (size_t)r : (size_t)REASON_NONE;
}

const char *reason_code(enum reason r)
{
	return reasons[row(r)].code;
}

const char *reason_meaning(enum reason r)
{
	return reasons[row(r)].meaning;
}

const char *reason_advice(enum reason r)
{
	return reasons[row(r)].advice;
}

enum severity reason_severity(enum reason r)
{
	return reasons[row(r)].severity;
}

enum reason reason_from_code(const char *code)
{
	for (size_t i = 0; i < ELEMENTSOF(reasons); i++)
		if (streq(reasons[i].code, code))
			return (enum reason)i;

	return REASON_NONE;
}
