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
		"The configuration is invalid and is not used",
		"Correct the line that is named, then \"rdma-provision check\" and \"systemctl "
		"restart rdma-provision.service\".",
		SEVERITY_ERROR,
	},
	[REASON_CONFIG_UNKNOWN] = {
		"config-unknown",
		"The configuration has a key or section that this version does not know",
		"Correct its name or remove it (\"rdma-provision check\" names the nearest one), "
		"or install the version that knows it, then \"systemctl restart "
		"rdma-provision.service\".",
	},
	[REASON_CONFIG_IGNORED] = {
		"config-ignored",
		"A configuration file is in a folder of /run and is not read",
		"Move the file to the folder of the same name below /etc, or remove it, then "
		"\"systemctl restart rdma-provision.service\".",
	},

	[REASON_CONFIG_CHANGED] = {
		"configuration-changed",
		"The configuration on disk differs from the one the service runs with",
		"Run \"systemctl restart rdma-provision.service\".",
	},

	[REASON_MODULE_MISSING] = {
		"module-missing",
		"A required kernel module is not installed for the running kernel",
		"Install the package that contains it for this kernel (see uname -r): "
		"linux-modules-extra (Ubuntu), kernel-modules-extra (RHEL, Alibaba Cloud Linux, "
		"Fedora) or the vendor's driver; after a kernel update rebuild it (dkms "
		"autoinstall). The driver of eRDMA is installed by the ACK eRDMA "
		"Controller, or by the vendor's env_setup.sh "
		"(http://mirrors.cloud.aliyuncs.com/erdma/).",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_BLACKLISTED] = {
		"module-blacklisted",
		"A required kernel module is blacklisted, or an install command replaces it",
		"Find the line with \"modprobe --showconfig | grep -E '^(blacklist|install)'\" or "
		"modprobe.blacklist= on the kernel command line, remove it, rebuild the initramfs "
		"if it contains the line, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_NO_DRIVER] = {
		"no-driver",
		"The function is bound to no driver",
		"\"rdma-provision explain\" with its address shows the driver's last errors and "
		"their time; a function that is bound to vfio-pci, or unbound on purpose, should not "
		"match any [Device] section.",
	},
	[REASON_DKMS_BUILDING] = {
		"dkms-building",
		"DKMS is still building a required kernel module",
		"Nothing to do: it is loaded when it is built; after ReadyTimeoutSec= look at "
		"\"journalctl -u dkms\" and \"dkms status\".",
	},
	[REASON_MODULE_UNREADABLE] = {
		"module-unreadable",
		"The module's file cannot be read, so the loaded driver is not unloaded",
		"Check the file with \"modinfo\" and reinstall its package; a compressed file "
		"(.xz, .zst) needs a kmod that knows the format (kmod --version).",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_VERMAGIC] = {
		"module-vermagic",
		"The module was built for another kernel, or its file is damaged",
		"\"dmesg\" has a line with \"version magic\" or \"symbol version\". Build the "
		"module for the running kernel (dkms autoinstall) or install the package for it.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_SYMBOL] = {
		"module-symbol",
		"The module needs a symbol that the loaded modules lack",
		"\"dmesg\" has a line with \"Unknown symbol\": the module was built against "
		"another RDMA stack. Build it against the one in use (kernel or OFED/DOCA), then "
		"\"depmod\" and \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_REBUILT] = {
		"module-rebuilt",
		"The module's file is, or may be, another build than the loaded driver, which is not "
		"unloaded",
		"Drain the node and reboot: the driver on disk is then loaded in the requested "
		"mode.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_SIGNATURE] = {
		"module-signature",
		"The kernel does not accept the module's signature",
		"Sign the module with a key that is enrolled on the machine (\"mokutil --import\" "
		"with Secure Boot), or install the distribution's module.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_FORBIDDEN] = {
		"module-forbidden",
		"The kernel does not allow the module to be loaded",
		"Look for module_blacklist= on the kernel command line, for lockdown in "
		"/sys/kernel/security/lockdown and for kernel.modules_disabled; remove the "
		"setting that is not intended, and reboot.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_PARAMETER] = {
		"module-parameter",
		"The module does not accept the value of one of its parameters",
		"\"dmesg\" names the parameter. Compare its lines in \"modprobe --showconfig\" "
		"with \"modinfo\", and correct the file.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_NO_DEVICE] = {
		"module-no-device",
		"The module found no device that it supports and refused to load",
		"Check with \"lspci -nnk\" that the card is present and not bound to another "
		"driver, and look in \"dmesg\" for messages of the driver.",
		SEVERITY_ERROR,
	},
	[REASON_MODULE_PORT_TAKEN] = {
		"module-port-taken",
		"A port that the driver reserves when it is loaded is in use",
		"Run \"ss -lntup\" in every network namespace: eRDMA in compat mode takes 16 TCP "
		"ports from 30608 (ReservePortsBase= moves them, the same on all nodes that "
		"talk to each other). A driver built with MAD takes UDP port 4791 too, which "
		"rdma_rxe uses.",
		SEVERITY_ERROR,
	},
	[REASON_PARAMETER_MISSING] = {
		"parameter-missing",
		"The installed driver lacks the module parameter that this mode needs",
		"The kernel's own erdma has no compat_mode: install the vendor's driver (DKMS) "
		"for the running kernel, or set [Driver] Mode=default.",
		SEVERITY_ERROR,
	},
	[REASON_PARAMETER_MISMATCH] = {
		"parameter-mismatch",
		"The driver was loaded, but its parameter does not have the requested value",
		"Compare /sys/module/erdma/parameters with \"modinfo erdma\" and \"dmesg\"; if "
		"another file sets it, \"rdma-provision plan\" names the file.",
		SEVERITY_ERROR,
	},
	[REASON_DRIVER_IN_USE] = {
		"driver-in-use",
		"The driver is in the wrong mode, and cannot be reloaded while it is in use",
		"Drain the node and reboot: the mode is set before workloads start. Or stop the "
		"listed users, then \"rdma-provision apply\".",
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
		"A module option in another file contradicts the configuration",
		"Remove the line that is named, and rebuild the initramfs if it contains the line.",
		SEVERITY_ERROR,
	},
	[REASON_DRIVER_MODE_KEPT] = {
		"driver-mode-kept",
		"Mode=auto keeps the mode that another program set for the driver of eRDMA",
		"Set [Driver] Mode= to the mode that is wanted, the same as preferDriver of the ACK "
		"eRDMA Controller where that runs.",
	},
	[REASON_OPTION_STALE] = {
		"option-stale",
		"A file of rdma-provision sets a module option that the configuration no longer "
		"requests",
		"In /etc: \"rdma-provision bake\" rewrites the file, \"rdma-provision bake "
		"--undo\" removes it; rebuild the initramfs if it contains the file. In /run: "
		"\"rdma-provision early\", or the next boot.",
	},
	[REASON_NOT_OFED] = {
		"not-ofed",
		"Mode=ofed is set, but the driver does not belong to an OFED or DOCA stack",
		"Install DOCA-OFED or MLNX_OFED for the running kernel and reboot, or set "
		"[Driver] Mode=default; GPUDirect also works with the kernel's own driver and "
		"dmabuf.",
		SEVERITY_ERROR,
	},
	[REASON_SMC_WITH_OFED] = {
		"smc-with-ofed",
		"The module smc and driver mode ofed cannot be used together",
		"Keep smc from being loaded ([SMC] Enable=no; modules-load.d, tools of smc-tools) or "
		"set [Driver] Mode=default, the only mode that the vendor supports with SMC-R.",
	},
	[REASON_PORTS_NODEPORT] = {
		"ports-nodeport",
		"The TCP ports that eRDMA reserves lie in the range of Kubernetes' NodePorts",
		"Set [Driver] ReservePortsBase=30608 to keep the driver's ports, and keep Services "
		"off these NodePorts; or set it outside of 30000 to 32767 and of "
		"net.ipv4.ip_local_port_range. It must be the same on all nodes that talk to each "
		"other.",
	},
	[REASON_ROCE_PORT_BUSY] = {
		"roce-port-busy",
		"UDP port 4791, which eRDMA built with MAD uses in compat mode, is in use",
		"Unload rdma_rxe (\"rdma link delete\", \"modprobe -r rdma_rxe\"): the two cannot "
		"run on one node.",
	},
	[REASON_PEERMEM_FAILED] = {
		"peermem-failed",
		"nvidia_peermem is not loaded, so GPUDirect RDMA works with dmabuf only",
		"If the error is an unknown symbol or a missing peer-memory interface, the NVIDIA "
		"driver was built against another RDMA stack or before OFED was installed: "
		"reinstall it after OFED. NCCL 2.27 and newer use dmabuf instead. "
		"NvidiaPeermem=no disables this module and message.",
	},

	[REASON_NETNS_BUSY] = {
		"netns-busy",
		"The RDMA namespace mode cannot change while other network namespaces exist",
		"Reboot: rdma-provision-early sets the mode before any other namespace exists. If "
		"the initramfs loads ib_core, rebuild it first.",
		SEVERITY_ERROR,
	},

	[REASON_NO_SRIOV] = {
		"no-sriov",
		"The function does not support SR-IOV",
		"Use VirtualFunctions=exclusive; or, where the card has SR-IOV by its data sheet, "
		"enable it in the card's firmware and in the BIOS.",
		SEVERITY_ERROR,
	},
	[REASON_TOO_MANY_VFS] = {
		"too-many-vfs",
		"Count= is larger than the number of virtual functions of the card",
		"Lower Count= to sriov_totalvfs or use Count=max; on mlx5 raise NUM_OF_VFS in the "
		"firmware (mstconfig) and power cycle.",
		SEVERITY_ERROR,
	},
	[REASON_VF_IN_USE] = {
		"vf-in-use",
		"The NICs of a section change their numbers of virtual functions together, and a "
		"function of one of them is in use",
		"Drain the node and reboot: the number is set at boot, before workloads start. Or "
		"stop the listed users, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_VF_CHANGING] = {
		"vf-changing",
		"The service is changing the number of virtual functions of a NIC",
		"Wait: \"rdma-provision wait\" returns when it is done, or when its time is over.",
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
		"This function carries the node's own traffic, so it is not changed or moved into "
		"a pod",
		"Exclude it from Match=. If another NIC carries the node, name that one in "
		"[Service] NodeNIC=.",
	},
	[REASON_NODE_NIC_UNKNOWN] = {
		"node-nic-unknown",
		"It is not known which NIC carries the node, so none that may carry it is changed or "
		"moved into a pod",
		"Set [Service] NodeNIC= to the NIC that carries the node, or to none. Or wait for "
		"the node's default route and the kubelet's address, or set them, that one by "
		"--node-ip= in the kubelet's unit: the service takes each when it comes.",
	},
	[REASON_PF_IN_USE] = {
		"pf-in-use",
		"The host uses this physical function, and its driver loses the link when the number "
		"of VFs changes",
		"Reboot the node: the number is changed before anything uses the function. Or stop "
		"what uses it, then run \"rdma-provision apply\".",
	},
	[REASON_PORT_ADDRESSED] = {
		"port-addressed",
		"The host has addresses on this function, loses them and their routes while a pod "
		"has it, and gets them back afterwards",
		"Nothing, if no program of the host uses them: the pod gets what its CNI plugin or "
		"DRA driver gives. To keep them on the host, exclude the function from Match=.",
	},
	[REASON_PORT_IN_USE] = {
		"port-in-use",
		"The host uses this function or may use it, so it cannot be moved into a pod",
		"End the use that is named, also in the network configuration, or exclude the "
		"function from Match=. Where only \"unknown\" is named, [DevicePlugin] Type=rdma-shared "
		"or hca hands out the RDMA device and moves nothing.",
	},
	[REASON_PF_IN_LAG] = {
		"pf-in-lag",
		"The card is in a bond that is or becomes a RoCE LAG, which virtual functions "
		"would break up",
		"Share the bond's RDMA device: VirtualFunctions=exclusive for bonded cards, and "
		"[DevicePlugin] Type=rdma-shared or hca, for a bond's port is not moved into a pod; "
		"or take the card out of the bond and reboot; or set all its ports to switchdev "
		"(devlink dev eswitch set) before they are bonded.",
		SEVERITY_ERROR,
	},
	[REASON_PF_SICK] = {
		"pf-sick",
		"The physical function has errors or lacks a device, or a driver failed or took "
		"more than 20 s on one of its VFs: its other VFs are left alone",
		"Look in \"dmesg\" for the PCI address and at \"devlink health\". It is tried "
		"again when something changes, and by \"systemctl restart "
		"rdma-provision.service\". Only for errors of firmware or PCI: power cycle, then "
		"update the firmware or replace the card.",
	},
	[REASON_PF_DOWN] = {
		"pf-down",
		"The driver creates virtual functions only while the network device is up",
		"It is brought up first. If it stays down, find the cause with \"dmesg\" and \"ip "
		"-d link\"; a bond may keep its port down.",
	},
	[REASON_DRIVER_CONTAINER] = {
		"driver-container",
		"A container with NVIDIA's driver is loading the driver, and creates virtual "
		"functions itself",
		"Wait until it is ready (\"kubectl get pods -A\", the network operator's pod on "
		"this node). If there is no such pod, remove the folder it left behind: "
		"/run/mellanox/drivers.",
	},
	[REASON_VF_BUSY] = {
		"vf-busy",
		"Another program creates virtual functions, or the card is being reset",
		"Find the other program that sets sriov_numvfs (an operator, a udev rule, a "
		"script of the image) and stop one of the two; then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_VF_DRIVER] = {
		"vf-driver",
		"The driver of the physical function takes no number of virtual functions",
		"Install a driver with SR-IOV for this card (mlx5: a kernel with "
		"CONFIG_MLX5_ESWITCH, which cloud kernels lack), or use "
		"VirtualFunctions=exclusive.",
		SEVERITY_ERROR,
	},
	[REASON_VF_REJECTED] = {
		"vf-rejected",
		"The driver rejects this number of virtual functions",
		"Look in \"dmesg\" for the PCI address: the driver logs which numbers it accepts, "
		"or which other feature (XDP, another eswitch mode) must be off.",
		SEVERITY_ERROR,
	},
	[REASON_VF_NO_ROOM] = {
		"vf-no-room",
		"There is no room for the virtual functions: in the memory windows, the bus numbers, "
		"or what the card has",
		"Look in \"dmesg\" for the PCI address. Enable SR-IOV, ARI and \"Above 4G decoding\" (MMIO high size) in the BIOS; else "
		"boot with pci=realloc where \"dmesg\" says \"not enough MMIO resources\", or "
		"pci=assign-busses where it says \"bus number out of range\".",
		SEVERITY_ERROR,
	},
	[REASON_VF_FIRMWARE] = {
		"vf-firmware",
		"The driver or the card's firmware did not enable as many virtual functions as the "
		"card offers",
		"Look in \"dmesg\" for the PCI address, which tells what was missing. bnxt: the "
		"physical function has all rings, see \"ethtool -l NETDEV\", and leaves some with "
		"\"ethtool -L\". mlx5: compare NUM_OF_VFS in the firmware (mstconfig) with Count=; a "
		"number that was changed counts after a power cycle.",
		SEVERITY_ERROR,
	},
	[REASON_VF_ASSIGNED] = {
		"vf-assigned",
		"A virtual function is assigned to a virtual machine",
		"Stop the virtual machine, then \"rdma-provision apply\"; or drain the node and "
		"reboot.",
		SEVERITY_ERROR,
	},
	[REASON_VF_FOREIGN] = {
		"vf-foreign",
		"Virtual functions belong to another program, so they are neither changed nor "
		"handed out",
		"The program bound them to another driver (vfio-pci) or made vDPA devices of "
		"them. To use them here, release them in that program, clear \"driver_override\", "
		"then \"rdma-provision apply\".",
	},
	[REASON_VF_WITHOUT_RDMA] = {
		"vf-without-rdma",
		"Virtual functions of this driver have no RDMA, so none are created",
		"Use VirtualFunctions=exclusive, so that the physical function is handed out; or "
		"install a vendor driver that supports RDMA in virtual functions.",
		SEVERITY_ERROR,
	},
	[REASON_VF_RDMA_UNKNOWN] = {
		"vf-rdma-unknown",
		"Whether virtual functions of this driver have RDMA is not known, so those that "
		"the plan creates do not count",
		"They count once they are there with an RDMA device: after \"rdma-provision "
		"apply\", \"rdma-provision status\" shows whether they have one.",
	},
	[REASON_VF_SETTING_UNSUPPORTED] = {
		"vf-setting-unsupported",
		"The driver or the card does not support this setting for virtual functions",
		"Remove the key from the [Device] section; on mlx5 it needs the legacy eswitch "
		"mode and a kernel with CONFIG_MLX5_ESWITCH; on a BlueField in DPU mode the "
		"system on the card sets it: use Identity=keep and Trust=keep here.",
	},
	[REASON_NO_IPOIB] = {
		"no-ipoib",
		"The card's IPoIB network device, through which virtual functions get GUIDs, is "
		"missing",
		"Install the kernel's extra modules or the vendor's driver with ib_ipoib, and "
		"check that the module is not blacklisted and that its device is not in another "
		"namespace. If the provider sets the GUIDs, use Identity=keep.",
	},
	[REASON_IDENTITY_UNSTABLE] = {
		"identity-unstable",
		"The card reports no permanent MAC, so those of its virtual functions are derived "
		"from its present one",
		"Do not change the MAC of the physical function before its virtual functions are "
		"created, or use Identity=keep and set their MACs yourself.",
	},
	[REASON_AUTOPROBE_OFF] = {
		"autoprobe-off",
		"Another program has set sriov_drivers_autoprobe to 0",
		"Virtual functions get no driver while it is 0: write 1 to "
		"sriov_drivers_autoprobe of the card, then \"rdma-provision apply\".",
		SEVERITY_ERROR,
	},
	[REASON_GPU_SHARED_MULTI] = {
		"gpu-shared-multi",
		"Several virtual functions of a card are shared on a node with GPUs",
		"This works. For GPU jobs use VirtualFunctions=shared or exclusive: with several "
		"functions the GPUs compete for one port.",
	},
	[REASON_ZERO_GUID] = {
		"zero-guid",
		"The RDMA device has a node GUID of zero, or of all ones",
		"Stop the users of the virtual function, then run \"rdma-provision apply\". If "
		"the GUID is still zero, set it through the physical function (\"ip link set PF "
		"vf N mac\"; of InfiniBand \"vf N node_guid\" and \"port_guid\") and rebind its "
		"driver; for a function that was assigned to a virtual machine, do this on the "
		"host.",
		SEVERITY_ERROR,
	},
	[REASON_VF_IDENTITY] = {
		"vf-identity",
		"The virtual function has another MAC or GUID than the one that was set",
		"Its driver is rebound once, unless the function is in use. If this does not "
		"help, see the driver's messages in \"rdma-provision explain\" with its address; "
		"update the card's firmware and driver, or set Identity=keep.",
		SEVERITY_ERROR,
	},
	[REASON_VF_ORPHAN] = {
		"vf-orphan",
		"The network device of the virtual function is in no network namespace",
		"The driver is rebound by the first pass at which no process uses the function: end "
		"the processes that \"rdma-provision explain\" with its address lists, then run "
		"\"rdma-provision apply\".",
		SEVERITY_ERROR,
	},

	[REASON_NO_DEVICES] = {
		"no-devices",
		"A [Device NAME] section is missing, or has no NIC of this node",
		"Compare Match= with \"lspci -nnk\" and the names in /sys/class/net and "
		"/sys/class/infiniband; it matches physical functions only, and the first section "
		"that matches a NIC has it. Set Expect=0 in the section if the node is ready without "
		"such a NIC. Where the section is missing, add one.",
	},
	[REASON_DEVICES_MISSING] = {
		"devices-missing",
		"Fewer cards are present than Expect= requires",
		"Check with \"lspci -nnk\" whether the card is on the bus. If not, reseat or attach "
		"it; if it is, bind it to its own driver, or correct Match= or Expect=.",
	},
	[REASON_NO_IBDEV] = {
		"no-ibdev",
		"The function has no RDMA device",
		"Where the driver's RDMA part (mlx5_ib, irdma, bnxt_re) is not loaded, \"rdma-provision "
		"plan\" says what stands against it; else look in \"dmesg\": symbol errors mean that it "
		"was built for another RDMA stack.",
	},
	[REASON_IN_NETNS] = {
		"in-netns",
		"A device of this function is missing here, and is or may be in another network "
		"namespace",
		"Find it with \"ip -n NAMESPACE link\" and \"rdma -n NAMESPACE dev\", and give it back "
		"(\"ip -n NAMESPACE link set NETDEV netns 1\"); or exclude the function from Match=. "
		"If no namespace has it, look in \"dmesg\" for the PCI address.",
	},
	[REASON_NOT_RECORDED] = {
		"not-recorded",
		"The tree below --root= lacks this fact, so it is not known",
		"Make the tree with \"rdma-provision capture\" on the node.",
	},
	[REASON_PORT_OF_LAG] = {
		"port-of-lag",
		"This port is in a bond and has no RDMA device of its own: the card's other port has "
		"the one of the bond",
		"Nothing to do: \"rdma-provision explain\" with the bond's name shows the RDMA "
		"device.",
		SEVERITY_NONE,
	},
	[REASON_VERBS_FAILED] = {
		"verbs-failed",
		"libibverbs cannot open the RDMA device",
		"Install the user-space provider that matches the driver (ibverbs-providers on "
		"Debian and Ubuntu, libibverbs on RHEL, Alibaba Cloud Linux and Fedora, or the "
		"vendor's; eRDMA needs 43 or newer) and try \"ibv_devinfo -d\" with the device. With "
		"\"Permission denied\" look at the mode of /dev/infiniband/uverbsN and at what SELinux "
		"or AppArmor logged.",
		SEVERITY_ERROR,
	},
	[REASON_NO_UVERBS] = {
		"no-uverbs",
		"The RDMA device has no uverbs character device",
		"Load ib_uverbs (\"modprobe ib_uverbs\"); if it is loaded, check that udev creates "
		"/dev/infiniband/uverbsN.",
	},
	[REASON_NO_UMAD] = {
		"no-umad",
		"The RDMA device has no umad character device, which the device plugin requires",
		"Load ib_umad (\"modprobe ib_umad\"); if it is loaded, check that udev creates "
		"/dev/infiniband/umadN.",
	},
	[REASON_NO_RDMA_CM] = {
		"no-rdma-cm",
		"/dev/infiniband/rdma_cm is missing, which the device plugin requires",
		"Load rdma_ucm (\"modprobe rdma_ucm\"); if the module is missing, install the "
		"kernel's extra modules; if it is loaded, check that udev creates the file.",
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
		"Give the network device an address and bring it up; if it has one, check whether "
		"its GID belongs to a bond above it in "
		"/sys/class/infiniband/*/ports/*/gid_attrs/ndevs.",
	},
	[REASON_NO_IPV6_GID] = {
		"no-ipv6-gid",
		"The RDMA port has no RoCE v2 GID of a global IPv6 address, which IPv6=ra waits "
		"for",
		"Check whether a router advertises a prefix on this network (\"ip -6 route show "
		"proto ra\"); the kernel requests an advertisement only when the link comes up, "
		"and otherwise waits for the next one.",
	},
	[REASON_NO_ADDRESS] = {
		"no-address",
		"The RDMA device has no address that another network can reach, which "
		"RequireAddress= asks for",
		"The network manager of the node gives it (networkd, NetworkManager, cloud-init): "
		"configure the network device there, or set [Route] Manage=yes and "
		"Address=metadata or static. If pods bring their own addresses set "
		"RequireAddress=no.",
	},
	[REASON_IN_POD] = {
		"in-pod",
		"The device is in the network namespace of a pod",
		"Nothing to do: it comes back when the pod ends.",
		SEVERITY_NONE,
	},
	[REASON_GIVEN_BACK] = {
		"given-back",
		"A pod gave the device back with other settings than it was handed out with",
		"Make it a port of the VRF, if one is named, or run \"rdma-provision apply\" to record "
		"it as it is. Otherwise nothing: they are put back when none of them has changed "
		"for SettleSec= and no CNI plugin is at work on the device.",
	},
	[REASON_GUID_TWICE] = {
		"guid-twice",
		"Two functions have the same node GUID, by which subnet managers and libraries "
		"tell RDMA devices apart",
		"Give one of them its own: for a virtual function with \"ip link set PF vf N "
		"node_guid\" on the host of its PF, then bind its driver again.",
	},
	[REASON_MAC_TWICE] = {
		"mac-twice",
		"Two functions have the same MAC address, so a switch delivers to one of them only",
		"Find which one should have it, often by the permanent MAC in \"ip -d link show\", "
		"and give the other one its own; for a virtual function with \"ip link set PF vf N "
		"mac\".",
	},

	[REASON_MTU_TOO_LARGE] = {
		"mtu-too-large",
		"MTU= is larger than the network device allows",
		"Lower MTU= to the maxmtu that \"ip -d link show\" prints for the device, and to "
		"the MTU of the switches.",
		SEVERITY_ERROR,
	},
	[REASON_MTU_UNDER_VFS] = {
		"mtu-under-vfs",
		"The MTU is never lowered while virtual functions exist",
		"Raise MTU= to the current MTU of the device, or drain the node and reboot: the "
		"MTU is set before the virtual functions are created.",
		SEVERITY_ERROR,
	},
	[REASON_MTU_UNDER_IPV6] = {
		"mtu-under-ipv6",
		"MTU= is below 1280, with which the kernel would take the IPv6 addresses and routes "
		"off the network device that is named",
		"Raise MTU= to 1280 or more, or remove the IPv6 addresses and routes of the device.",
		SEVERITY_ERROR,
	},
	[REASON_MTU_OF_BOND] = {
		"mtu-of-bond",
		"MTU= is not set on a port of another network device (bond, team, bridge, the "
		"synthetic NIC of a virtual machine), nor lowered where such a port is above the "
		"NIC and would go down with it",
		"Set the MTU of that network device where it is configured: in the files of the "
		"network manager.",
	},

	[REASON_DCBX_FIRMWARE] = {
		"dcbx-firmware",
		"The firmware of the card sets its priorities by LLDP and DCBX, so [QoS] is not "
		"applied to it",
		"Set them at the switch, or switch the agent of the firmware off: for mlx5 "
		"\"mstconfig set LLDP_NB_DCBX_P1=0 DCBX_IEEE_P1=0\" and a reboot, for ice and i40e "
		"\"ethtool --set-priv-flags NETDEV fw-lldp-agent off\".",
	},
	[REASON_QOS_UNSUPPORTED] = {
		"qos-unsupported",
		"The driver or the kernel lacks what a setting of [QoS] changes",
		"\"dcb ets show dev NETDEV\" and \"dcb pfc show dev NETDEV\" print what the driver "
		"has; RoceToS= and RoceMode= need the module rdma_cm, and configfs below "
		"/sys/kernel/config.",
		SEVERITY_ERROR,
	},
	[REASON_QOS_IN_USE] = {
		"qos-in-use",
		"A change of priorities takes the link of the port down for a moment, and it is in "
		"use",
		"Drain the node and stop the processes, or reboot: [QoS] is applied before pods "
		"start.",
	},
	[REASON_QOS_MISMATCH] = {
		"qos-mismatch",
		"PFC= does not enable flow control for the priority of RoceToS=",
		"The DSCP is RoceToS= divided by four, and DSCP= gives its priority: add that priority "
		"to PFC=, on this node and on the switches.",
	},

	[REASON_ADDRESS_AMBIGUOUS] = {
		"address-ambiguous",
		"StaticAddress= is for one NIC, but several match a section that has it",
		"Give each NIC a section [Device NAME] and an address of its own, for example with "
		"Match=pci:0000:41:00.0.",
		SEVERITY_ERROR,
	},
	[REASON_ADDRESS_DIVERTS] = {
		"address-diverts",
		"With this address on a NIC that is up, packets to a place that the node must reach "
		"would leave by that NIC, which they do not now",
		"Give the NIC an address of another network, or add a route to that place alone by "
		"the interface that its packets leave by now.",
	},
	[REASON_METADATA_WAITING] = {
		"metadata-waiting",
		"The cloud's metadata service has not yet returned an address for this NIC",
		"The query is repeated when the link comes up, and at growing intervals. Check "
		"that the NIC is attached and has link, that the service (100.100.100.200) is "
		"reachable, and \"systemctl status rdma-provision-metadata.socket\".",
	},
	[REASON_METADATA_REFUSED] = {
		"metadata-refused",
		"The cloud's metadata service returned an invalid address for this NIC, which is "
		"not used",
		"Check the answer of http://100.100.100.200, or set the address with [Route] "
		"Address=static.",
		SEVERITY_ERROR,
	},
	[REASON_ROUTE_OVERRULED] = {
		"route-overruled",
		"The kernel sends packets from this NIC's address through another interface",
		"A rule before preference 30114 matches them: see \"ip rule\" and \"ip -6 rule\", "
		"and add a condition to it that excludes this address.",
	},
	[REASON_NIC_IN_USE] = {
		"nic-in-use",
		"A process has the RDMA device of this NIC open, so its routes and settings are "
		"kept",
		"Stop the processes (\"rdma resource show cm_id\" and \"qp\" name them), then "
		"\"rdma-provision revert\".",
	},
	[REASON_ROUTE_FOREIGN] = {
		"route-foreign",
		"Another program has set a route for the network of this NIC, with a metric below "
		"Metric=",
		"Set a metric of at least Metric= in that program; or stop it, or set [Route] "
		"Manage=no. \"ip route show table all\" shows the route, which rdma-provision does "
		"not replace.",
	},
	[REASON_ROUTE_NOT_RANKED] = {
		"route-not-ranked",
		"A network manager added the route of this NIC's network itself, and it does not "
		"rank below those of other NICs",
		"Set the metric where the route is configured (NetworkManager: \"nmcli connection "
		"modify NAME ipv4.route-metric N ipv6.route-metric N\", then \"nmcli device "
		"reapply NETDEV\"): rdma-provision ranks only routes that the kernel added for an "
		"address.",
	},
	[REASON_TERWAY_ENI] = {
		"terway-eni",
		"Terway manages the ENI of this eRDMA device, and moves its addresses to pods",
		"Take the ENI out of Terway's pool: tag it, and name the tag in eni_tag_filter of "
		"Terway's configuration.",
	},
	[REASON_LABEL_UNKNOWN] = {
		"label-unknown",
		"The file of [Kubelet] LabelFile= lacks the node's label vke.node.rdma.mode",
		"Write it, for example with \"kubectl label --list node NODE >FILE\", or unset "
		"LabelFile=.",
	},
	[REASON_VKE_MODE] = {
		"vke-mode",
		"The node label vke.node.rdma.mode asks for another mode than the configuration",
		"Run \"rdma-provision set --preset=vke-MODE\" with the mode of the label, or change the "
		"label of the node pool: the plugin of VKE acts on the label.",
	},
	[REASON_VKE_MGPU] = {
		"vke-mgpu",
		"The node label vke.node.gpu.schedule asks for mGPU, which VKE does not support on a "
		"node with RDMA",
		"Use nodes without RDMA for mGPU, or change the label of the node pool to nvidia.",
	},
	[REASON_SYSCTL_STRICT] = {
		"sysctl-strict",
		"A setting for all network devices is stricter than what this NIC needs",
		"The larger of both values takes effect, and rdma-provision never changes "
		"settings for all devices: lower it in /etc/sysctl.d.",
	},
	[REASON_IPV6_ERDMA] = {
		"ipv6-erdma",
		"IPv6=ra is set, but the network of eRDMA has no IPv6",
		"Set [Route] IPv6=no on nodes with eRDMA.",
		SEVERITY_ERROR,
	},
	[REASON_GID_PENDING] = {
		"gid-pending",
		"An address of the device is not in its GID table yet",
		"This normally takes a moment. If it does not end, check whether the table is "
		"full (/sys/class/infiniband/*/ports/*/gids).",
	},
	[REASON_HELD] = {
		"held",
		"\"rdma-provision revert\" was run: nothing is changed until the next start or "
		"reload of the service, or \"rdma-provision apply\"",
		"Correct the settings, then run \"systemctl restart rdma-provision.service\".",
	},

	[REASON_SMC_ABSENT] = {
		"smc-absent",
		"[SMC] Enable=auto has no effect, since this kernel has no smc module that may be loaded",
		"Install a kernel with CONFIG_SMC, or remove the module from the blacklist; set "
		"[SMC] Enable=no to do without.",
	},
	[REASON_SMC_WITH_COMPAT] = {
		"smc-with-compat",
		"SMC-R over eRDMA is not supported in driver mode compat, so no PNETID is set",
		"Set [Driver] Mode=default, the only mode that the vendor supports with SMC-R, or "
		"[SMC] Enable=auto, which does not use SMC here.",
	},
	[REASON_SMC_NO_TABLE] = {
		"smc-no-table",
		"The module smc is loaded, but has no table of PNETIDs",
		"It is not the kernel's own module (\"modinfo -n smc\"; OFED installs another "
		"one): remove it, or set [SMC] Enable=no.",
		SEVERITY_ERROR,
	},
	[REASON_SMC_IWARP] = {
		"smc-iwarp",
		"The running kernel is not known to use SMC-R over eRDMA in mode default, whose "
		"devices get no PNETID",
		"Use Alibaba Cloud Linux 3 with kernel 5.10.134-17 or later, or set [SMC] Enable=no.",
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
		"A flag on the kubelet's command line overrides its configuration file",
		"Remove that flag from the kubelet's unit, its drop-ins or its environment file, "
		"then restart the kubelet.",
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
		"settings.kubernetes (Bottlerocket), machine.kubelet.extraConfig (Talos), a worker "
		"profile or --kubelet-extra-args (k0s), kubelet: of /etc/microshift/config.yaml "
		"(MicroShift).",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_VALUE_UNKNOWN] = {
		"kubelet-value-unknown",
		"A value of the kubelet is not known: its file cannot be read or understood, or "
		"the word is unknown, or misspelt and stricter than the requested one",
		"Correct or remove the value in the file or flag that sets it; rdma-provision does "
		"not overwrite it.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_UNCLEAR] = {
		"kubelet-unclear",
		"The way the kubelet is started cannot be determined",
		"Look at its unit, drop-ins and environment files, and pass --config in a simple "
		"form.",
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
		"The kubelet already ran in this boot with another CPU policy",
		"Reboot the node: policy and state file are changed together, before the first "
		"start of the kubelet.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_DEFERRED] = {
		"kubelet-deferred",
		"The kubelet's configuration is correct, but the running kubelet was started "
		"before the change",
		"It takes effect at the kubelet's next start; restart the kubelet at a convenient "
		"time.",
	},
	[REASON_KUBELET_ALIGNS_NOTHING] = {
		"kubelet-aligns-nothing",
		"The requested CPU policy aligns no RDMA device with CPUs without a topology "
		"policy",
		"Set [Kubelet] TopologyManagerPolicy=best-effort as well. The device plugin must "
		"report NUMA nodes to the kubelet: Type=sriov and the plugin of the ACK eRDMA "
		"Controller do.",
	},

	[REASON_KUBELET_WOULD_EXIT] = {
		"kubelet-would-exit",
		"The kubelet would exit at its next start",
		"Change the setting that the kubelet's words name; drain the node and remove the "
		"state file while the kubelet is stopped if they name that.",
		SEVERITY_ERROR,
	},
	[REASON_KUBELET_NOT_FOUND] = {
		"kubelet-not-found",
		"[Kubelet] asks for a policy or Gate=strict, and no kubelet was found",
		"\"rdma-provision explain kubelet\" lists what was looked for. Install the kubelet, "
		"or have a systemd unit start it: one that a script or a container runtime starts "
		"is not found. Without a kubelet, leave TopologyManagerPolicy=, CPUManagerPolicy= "
		"and Gate=strict out.",
	},

	[REASON_NOT_READY] = {
		"not-ready",
		"The node is starting or being changed, so the device plugin's configuration is "
		"not written yet",
		"Wait: \"rdma-provision wait\" returns when the node is ready, or degraded after "
		"ReadyTimeoutSec=.",
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
		"A usable device is missing, and is checked once more before the plugin's file "
		"changes",
		"Nothing to do: if it does not return within SettleSec=, the file is written "
		"without it.",
		SEVERITY_NONE,
	},
	[REASON_PLUGIN_NAME] = {
		"plugin-name",
		"The device plugin does not accept this resource name, or not twice",
		"Change Resource=: k8s-rdma-shared-dev-plugin accepts letters, digits and \"_\", "
		"and each name only once, regardless of its prefix; sriov-network-device-plugin "
		"also \"-\".",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_FILE] = {
		"plugin-file",
		"The device plugin would refuse its file",
		"Correct the listed errors; \"rdma-provision apply\" rewrites a file that "
		"rdma-provision wrote.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_EMPTY] = {
		"plugin-empty",
		"The device plugin would start but expose no device",
		"\"rdma-provision check\" prints why each device is left out.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_CLASS] = {
		"plugin-class",
		"The device plugin accepts network controllers (PCI class 02) only",
		"Hand this device out with [DevicePlugin] Type=hca or dranet, or with a plugin of "
		"its vendor: eRDMA has another class.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_NO_MAD] = {
		"plugin-no-mad",
		"eRDMA in default mode has no umad device, which the shared device plugin requires",
		"Set [Driver] Mode=compat (with a driver built with MAD), [DevicePlugin] "
		"Type=hca, or Type=none with the vendor's own plugin.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_NOT_SELECTED] = {
		"plugin-not-selected",
		"The plugin's file cannot select this device without selecting others as well",
		"Give different NICs separate pools ([Device NAME] Resource=), or use "
		"[DevicePlugin] Type=sriov, which selects by PCI address.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_PF_WITH_VFS] = {
		"plugin-pf-with-vfs",
		"The device plugin hides a physical function that has virtual functions",
		"Set VirtualFunctions=exclusive to hand out the NIC itself, or shared or "
		"shared-multi to hand out its virtual functions.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_DEFAULT_ROUTE] = {
		"plugin-default-route",
		"The NIC has a default route: the device plugin takes it for the node's and hides "
		"it",
		"Let neither DHCP nor router advertisements set a default route on this NIC "
		"(networkd: UseGateway=no; NetworkManager: never-default), or name the node's NIC "
		"to dranet (--uplink-interfaces, newer versions). If the NIC is the node's, exclude "
		"it from Match=, or hand out a virtual function of it.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_VFS_ONLY] = {
		"plugin-vfs-only",
		"The DRA driver offers virtual functions only",
		"Set VirtualFunctions=shared or shared-multi, or [DevicePlugin] Type=dranet.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_PF_NETDEV] = {
		"plugin-pf-netdev",
		"The DRA driver skips a physical function without a network device, and its "
		"virtual functions",
		"Bring its network device back to the host; on InfiniBand load ib_ipoib.",
		SEVERITY_ERROR,
	},
	[REASON_PLUGIN_IBDEVS] = {
		"plugin-ibdevs",
		"The function has several RDMA devices, and the DRA driver accepts exactly one",
		"Remove the others, or use [DevicePlugin] Type=dranet.",
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
		"The device plugin would also hand out this device, which no [Device] section "
		"hands out, or which is not usable",
		"With dranet, keep the device out by its --filter, or claim NICs by the DeviceClass "
		"that \"rdma-provision manifest dra\" prints, which selects devices. Otherwise use a "
		"plugin that selects them: [DevicePlugin] Type=rdma-shared or sriov.",
	},
	[REASON_PLUGIN_TWICE] = {
		"plugin-twice",
		"More sockets of device plugins are there than resources: two plugins register the "
		"same one, and the kubelet uses the last one, or a plugin was killed and left its "
		"socket",
		"If the pods of all plugins run (\"kubectl get pods -A -o wide\"), remove one of the "
		"two DaemonSets. Where the cloud has a plugin of its own, set [DevicePlugin] "
		"Type=none or turn that add-on off.",
	},
	[REASON_PLUGIN_RESTART_NEEDED] = {
		"plugin-restart-needed",
		"The running device plugin has not read the changed file, or the DRA driver has not "
		"found the device: both look only at their start",
		"Restart it: \"kubectl delete pod\" with its pod on this node; with [DevicePlugin] "
		"Manifest= the plugin is restarted automatically.",
		SEVERITY_ERROR,
	},

	[REASON_OUTPUT_LAST] = {
		"output-last",
		"Files of [Output] describe the finished node, so they are written after all "
		"changes",
		"Nothing to do: the pass that makes the changes writes them at its end.",
		SEVERITY_NONE,
	},
	[REASON_OUTPUT_FOREIGN] = {
		"output-foreign",
		"A file of [Output], ConfigFile= or Manifest= exists and was not written by this "
		"service",
		"Move it away, or configure another path: files of other programs are never "
		"replaced.",
		SEVERITY_ERROR,
	},
	[REASON_OUTPUT_NO_FOLDER] = {
		"output-no-folder",
		"The folder of a file of [Output] does not exist",
		"Install the program that reads it (NFD, node_exporter), create the folder, or "
		"configure another one; then \"systemctl restart rdma-provision.service\".",
	},
	[REASON_OUTPUT_READ_ONLY] = {
		"output-read-only",
		"The service cannot write to the folder of a file for other programs",
		"If the folder is newer than the service: \"systemctl restart rdma-provision.service\". "
		"Else configure another folder, or allow this one: ReadWritePaths= by \"systemctl edit "
		"rdma-provision.service\", then restart the service.",
		SEVERITY_ERROR,
	},
	[REASON_OUTPUT_FULL] = {
		"output-full",
		"The file system has no space for a file for other programs",
		"Free space or inodes on that file system; the service retries.",
		SEVERITY_ERROR,
	},
	[REASON_OUTPUT_LINK] = {
		"output-link",
		"A part of the path of a file for other programs is a link, which is not followed",
		"Configure the path that the link leads to, or replace it by a folder.",
		SEVERITY_ERROR,
	},
	[REASON_NCCL_NONE] = {
		"nccl-none",
		"No port is usable for NCCL here: each is left out",
		"\"rdma-provision nccl-env\" says why. Usable is an active InfiniBand port, or one "
		"with a RoCE GID of an IPv4 or global IPv6 address beyond link-local ones, on a "
		"netdev with carrier, if it does not move into pods.",
	},

	[REASON_PCIE_SLOW] = {
		"pcie-slow",
		"The PCIe link of the card is slower or narrower than card and slot support",
		"Look for link errors (\"lspci -vvv\", dmesg), reseat the card, and check slot, "
		"riser and the firmware's settings for the slot.",
	},
	[REASON_PCIE_ERRORS] = {
		"pcie-errors",
		"The PCIe link of the card had errors that were not corrected",
		"Look for \"AER\" in dmesg, reseat the card, and replace it if they go on. "
		"\"rdma-provision clear DEVICE\" sets the number to 0, as a reboot does.",
	},
	[REASON_RATE_BELOW_SIBLINGS] = {
		"rate-below-siblings",
		"A port of the card is slower than those of other cards of the same model",
		"Check its cable, transceiver and the switch's port, and whether a speed is "
		"forced (\"ethtool NETDEV\"): a job over all NICs is as fast as the slowest port.",
	},
	[REASON_MEMLOCK_LIMITED] = {
		"memlock-limited",
		"The locked-memory limit of containers is low, so registering memory for RDMA "
		"fails with ENOMEM without CAP_IPC_LOCK",
		"Set LimitMEMLOCK=infinity in a drop-in of the unit (\"systemctl edit UNIT\") and "
		"restart it, or give the pods the capability IPC_LOCK.",
	},
	[REASON_IOMMU_TRANSLATES] = {
		"iommu-translates",
		"An IOMMU translates each memory access of the card, which reduces throughput",
		"If the cards are trusted, add iommu=pt to the kernel command line and reboot.",
	},
	[REASON_GPU_WITHOUT_NIC] = {
		"gpu-without-nic",
		"No managed NIC is on the PCIe switch or the NUMA node of this GPU",
		"Its RDMA traffic crosses the link between the processors. Where there is a NIC on that "
		"NUMA node, let a [Device NAME] section match it; else the machine has none.",
	},
	[REASON_LINK_FLAPPING] = {
		"link-flapping",
		"The link of the card was lost as often as Flap= says, or more",
		"Look at cable, transceiver and the switch's port (\"ethtool -m NETDEV\", the "
		"switch's log). It ends when the link was up for Quiet=, or with "
		"\"rdma-provision clear DEVICE\".",
	},
	[REASON_LINK_DROPPED] = {
		"link-dropped",
		"The link of the card was lost and has been down for longer than Drop=",
		"Look at cable, transceiver and the switch's port; \"rdma-provision explain DEVICE\" "
		"has what the driver says of the link.",
	},
	[REASON_CONTESTED] = {
		"contested",
		"Another program repeatedly undoes a change of this service",
		"Find that program (a controller, a script, systemd-networkd, NetworkManager) "
		"and let only one of the two manage this setting. It is set again after the time "
		"that is shown, and at once by \"rdma-provision apply\". For systemd-networkd and "
		"routes link /usr/lib/rdma-provision/networkd.conf.d/rdma-provision.conf into "
		"/etc/systemd/networkd.conf.d/ and restart it.",
	},
	[REASON_NO_EFFECT] = {
		"no-effect",
		"A change has no effect",
		"It is tried again. If that does not help, find another program that changes this "
		"setting (a controller, a script, NetworkManager), and look in \"dmesg\" at that time.",
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
		"A change did not finish in time",
		"It is tried again when nothing of it runs any more. If it fails again, look in "
		"\"dmesg\" and \"journalctl -b\" at that time. Only for a driver or firmware that "
		"hangs: save \"dmesg\" and \"rdma-provision capture\" for the vendor, then drain and "
		"reboot the node.",
		SEVERITY_ERROR,
	},
	[REASON_WORKER_DIED] = {
		"worker-died",
		"The worker process of a pass ended before it was done",
		"Look in \"journalctl -u rdma-provision\" for its signal and \"coredumpctl "
		"list\"; \"systemctl restart rdma-provision.service\" starts the next pass now.",
		SEVERITY_ERROR,
	},
	[REASON_READY_TIMEOUT] = {
		"ready-timeout",
		"ReadyTimeoutSec= is over, but a pass of the service is still running",
		"Meanwhile the node is used as it is. \"systemctl status rdma-provision\" names "
		"the running step; when the pass ends, the state is updated.",
	},
	[REASON_BOOT_LOOP] = {
		"boot-loop",
		"Three boots failed at this step, so it is skipped",
		"Save \"dmesg\" and the journals of these boots (\"journalctl -b -1\") for the "
		"vendor. After a change of configuration, kernel, driver, firmware, card or "
		"rdma-provision the step is tried at the next boot; \"rdma-provision apply\" "
		"tries it now.",
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
