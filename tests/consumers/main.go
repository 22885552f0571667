// SPDX-License-Identifier: Apache-2.0

// Consumers: what programs that use a node see of it, by the libraries that they are built with.
//
//	main dranet     a PCI address a line: what dranet publishes with dra.net/rdma
//	main dra-sriov  what dra-driver-sriov can give to a pod, of all PFs
//	main cdi FILE   the devices of a CDI specification, as container runtimes read it
//
// The rules are those of src/plugin/lint-rules.h, with the drivers' own libraries behind them: neither driver can be built
// without its module, and those are not to be had from every proxy.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"

	"github.com/Mellanox/rdmamap"
	"github.com/jaypipes/ghw"
	"github.com/k8snetworkplumbingwg/sriovnet"
	"github.com/vishvananda/netlink"
	"tags.cncf.io/container-device-interface/pkg/cdi"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

// gateways: the netdevs of default routes, and what is below them.
func gateways() map[string]bool {
	found := map[string]bool{}
	links := must(netlink.LinkList())
	for _, route := range must(netlink.RouteList(nil, netlink.FAMILY_ALL)) {
		if route.Dst != nil && !route.Dst.IP.IsUnspecified() {
			continue
		}
		for _, link := range links {
			index := link.Attrs().Index
			if index == route.LinkIndex || link.Attrs().MasterIndex == route.LinkIndex {
				found[link.Attrs().Name] = true
			}
		}
	}
	return found
}

// netdev: of a function, or "".
func netdev(pci string) string {
	names, err := sriovnet.GetNetDevicesFromPci(pci)
	if err != nil || len(names) == 0 {
		return ""
	}
	return names[0]
}

// dranet: pkg/inventory/db.go. Network functions, or any with an RDMA device; not those of the default route.
func dranet() (found []string) {
	avoid := gateways()
	for _, function := range must(ghw.PCI()).Devices {
		rdma := rdmamap.GetRdmaDevicesForPcidev(function.Address)
		if function.Class.ID != "02" && len(rdma) == 0 {
			continue
		}
		if name := netdev(function.Address); len(rdma) > 0 && !avoid[name] {
			found = append(found, function.Address)
		}
	}
	return found
}

// sriov: pkg/devicestate/discovery.go and state.go. VFs with a netdev, and exactly one RDMA device with character devices.
func sriov() (found []string) {
	avoid := gateways()
	for _, function := range must(ghw.PCI()).Devices {
		pf := netdev(function.Address)
		if function.Class.ID != "02" || pf == "" || avoid[pf] {
			continue
		}
		vfs, err := sriovnet.GetVfPciDevList(pf)
		if err != nil {
			continue
		}
		for _, name := range vfs { // virtfn0
			vf := filepath.Base(must(os.Readlink(filepath.Join(sriovnet.NetSysDir, pf, "device", name))))
			rdma := rdmamap.GetRdmaDevicesForPcidev(vf)
			if netdev(vf) != "" && len(rdma) == 1 && len(rdmamap.GetRdmaCharDevices(rdma[0])) > 0 {
				found = append(found, vf)
			}
		}
	}
	return found
}

func main() {
	var found []string
	switch {
	case len(os.Args) == 2 && os.Args[1] == "dranet":
		found = dranet()
	case len(os.Args) == 2 && os.Args[1] == "dra-sriov":
		found = sriov()
	case len(os.Args) == 3 && os.Args[1] == "cdi":
		spec := must(cdi.ReadSpec(os.Args[2], 0))
		for _, device := range spec.Devices {
			found = append(found, device.Name)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: main dranet|dra-sriov|cdi FILE")
		os.Exit(2)
	}
	sort.Strings(found)
	for _, name := range found {
		fmt.Println(name)
	}
}
