#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-made.py FOLDER [NAME...]: writes FOLDER/made-*/root, or those named: nodes made by hand, from facts, of machines that were
not at hand.

It is run by make-trees. What is expected of a tree (plan.json, state.json) is checked by a person.
"""

import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

IFA_F_PERMANENT = 128
IFA_F_NOPREFIXROUTE = 512
RTPROT_KERNEL, RTPROT_BOOT, RTPROT_STATIC, RTPROT_RA, RTPROT_DHCP = 2, 3, 4, 9, 16
SCOPE_UNIVERSE, SCOPE_LINK = 0, 253
RTN_UNICAST = 1
NO_LINK_LOCAL = 'vrf', 'wireguard'  # addrconf_addr_gen() in net/ipv6/addrconf.c, wg_setup()


def eui64(mac):
    """The interface identifier of a MAC: ff:fe in the middle, the universal bit turned over."""
    m = [int(part, 16) for part in mac.split(':')]
    return [m[0] ^ 2, m[1], m[2], 0xFF, 0xFE, m[3], m[4], m[5]]


def groups(octets):
    """As sysfs writes GUIDs and GIDs."""
    text = ''.join('%02x' % o for o in octets)
    return ':'.join(text[i:i + 4] for i in range(0, len(text), 4))


def default_gid(mac):
    return groups([0xFE, 0x80] + [0] * 6 + eui64(mac))


def ipv4_gid(address):
    return groups([0] * 10 + [0xFF, 0xFF] + [int(part) for part in address.split('.')])


class Tree:
    def __init__(self, name):
        self.name = name
        self.root = os.path.abspath(os.path.join(name, 'root'))
        shutil.rmtree(self.root, ignore_errors=True)
        self.folders = {}  # of PCI functions, by address
        self.answers = {'schema': 1, 'netns_mode': 'shared', 'links': [], 'addresses': [],
                        'routes': [], 'rdma': [], 'devlink': [], 'modules': {}, 'modalias': {}}
        self.n_uverbs = 0

    def file(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as f:
            f.write(text)

    def read(self, path):
        with open(os.path.join(self.root, path), encoding='ascii') as f:
            return f.read()

    def link(self, path, target):
        """A relative link, as sysfs has them; both paths are below the root."""
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        os.symlink(os.path.relpath(target, os.path.dirname(path)), full)

    def system(self, kernel, boot, n_numa_nodes, modules):
        self.file('proc/sys/kernel/osrelease', kernel + '\n')
        self.file('proc/sys/kernel/random/boot_id', '00000000-0000-4000-8000-%012d\n' % boot)
        for i in range(n_numa_nodes):
            self.file('sys/devices/system/node/node%d/cpulist' % i, '%d-%d\n' % (i * 32, i * 32 + 31))
        for name in modules:
            self.file('sys/module/%s/initstate' % name, 'live\n')
            self.answers['modules'][name] = 'loaded'
        self.file('dev/infiniband/rdma_cm', '')

    def module(self, name, version, srcversion, taint, refcnt, **parameters):
        folder = 'sys/module/' + name
        self.file(folder + '/initstate', 'live\n')
        self.file(folder + '/version', version + '\n')
        self.file(folder + '/srcversion', srcversion + '\n')
        self.file(folder + '/taint', taint + '\n')
        self.file(folder + '/refcnt', '%d\n' % refcnt)
        for parameter, value in parameters.items():
            self.file('%s/parameters/%s' % (folder, parameter), value + '\n')

    def function(self, parent, address, vendor, device, pci_class, driver, numa_node, total_vfs=None):
        folder = 'sys/devices/%s/%s' % (parent, address)
        self.folders[address] = folder
        self.link('sys/bus/pci/devices/' + address, folder)
        self.file(folder + '/vendor', '0x%04x\n' % vendor)
        self.file(folder + '/device', '0x%04x\n' % device)
        self.file(folder + '/class', '0x%06x\n' % pci_class)
        self.file(folder + '/modalias', 'pci:v%08Xd%08Xsv%08Xsd%08Xbc%02Xsc%02Xi%02X\n' % (
            vendor, device, vendor, 1, pci_class >> 16, pci_class >> 8 & 0xFF, pci_class & 0xFF))
        self.file(folder + '/numa_node', '%d\n' % numa_node)
        if driver:
            self.link(folder + '/driver', 'sys/bus/pci/drivers/' + driver)
        if total_vfs is not None:
            self.file(folder + '/sriov_totalvfs', '%d\n' % total_vfs)
            self.file(folder + '/sriov_drivers_autoprobe', '1\n')

    def vf(self, pf, index, address, device, driver, numa_node, **info):
        """VF number index of a PF, with what the PF's driver tells of it."""
        vendor = int(self.read(self.folders[pf] + '/vendor'), 16)
        pci_class = int(self.read(self.folders[pf] + '/class'), 16)
        parent = os.path.dirname(self.folders[pf]).removeprefix('sys/devices/')
        self.function(parent, address, vendor, device, pci_class, driver, numa_node)
        self.link('%s/virtfn%d' % (self.folders[pf], index), self.folders[address])
        told = {'pf': pf, 'index': index, 'mac': '00:00:00:00:00:00', 'trust': 0, 'link_state': 0}
        told.update(info)
        self.answers.setdefault('vf_infos', []).append(told)

    def modalias(self, address, module):
        """What libkmod finds for a function: only asked for where it is unbound, or a VF with a driver of its own."""
        self.answers['modalias'][self.read(self.folders[address] + '/modalias').strip()] = module

    def driver_override(self, address, driver):
        self.file(self.folders[address] + '/driver_override', driver + '\n')

    def vdpa(self, address, name):
        """A vDPA device made of a function."""
        self.file('%s/%s/uevent' % (self.folders[address], name), '')
        self.link('sys/bus/vdpa/devices/' + name, '%s/%s' % (self.folders[address], name))

    def sf(self, address, number, ifindex, netdev, mac, ibdev=None, driver='mlx5_core', **more):
        """A scalable function of a PF: an auxiliary device below it, with a netdev and an RDMA device of its own."""
        below = '/%s.sf.%d' % (driver, number)
        self.netdev(ifindex, netdev, mac, address, below, **more)
        if not ibdev:
            return
        folder = '%s%s/infiniband/%s' % (self.folders[address], below, ibdev)
        self.file(folder + '/node_guid', groups(eui64(mac)) + '\n')
        self.file(folder + '/node_type', '1: CA\n')
        self.file(folder + '/ports/1/state', '4: ACTIVE\n')
        self.file(folder + '/ports/1/link_layer', 'Ethernet\n')
        os.symlink('../../..' + below, os.path.join(self.root, folder, 'device'))
        self.link('sys/class/infiniband/' + ibdev, folder)
        self.answers['rdma'].append({'name': ibdev, 'index': len(self.answers['rdma']),
                                     'netdev': netdev, 'contexts': 0, 'verbs': 0})

    def pcie(self, address, is_, card, slot, iommu=None):
        """The link as it is, and as card and slot could have it: (GT/s, lanes); the type of its IOMMU group."""
        folder = self.folders[address]
        for path, which, (speed, width) in ((folder, 'current', is_), (folder, 'max', card),
                                            (os.path.dirname(folder), 'max', slot)):
            self.file('%s/%s_link_speed' % (path, which), speed + '\n')
            self.file('%s/%s_link_width' % (path, which), '%d\n' % width)
        parent = os.path.basename(os.path.dirname(folder))
        if not os.path.lexists(os.path.join(self.root, 'sys/bus/pci/devices', parent)):
            self.link('sys/bus/pci/devices/' + parent, os.path.dirname(folder))
            self.file(os.path.dirname(folder) + '/class', '0x060400\n')
        if iommu:
            group = str(20 + len(self.folders))
            self.link(folder + '/iommu_group', 'sys/kernel/iommu_groups/' + group)
            self.file('sys/kernel/iommu_groups/%s/type' % group, iommu + '\n')

    def vpd(self, address, text):
        self.file(self.folders[address] + '/vpd', text)

    def netdev(self, ifindex, name, mac, address=None, below='', **more):
        folder = (self.folders[address] + below if address else 'sys/devices/virtual') + '/net/' + name
        self.link('sys/class/net/' + name, folder)
        link = {'ifindex': ifindex, 'name': name, 'mac': mac, 'perm_mac': mac if address else '',
                'kind': '', 'mtu': 1500, 'max_mtu': 9978, 'master': 0, 'link': 0, 'up': True,
                'carrier': True}
        link.update(more)
        self.answers['links'].append(link)
        if link['up'] and not link['master'] and link['kind'] not in NO_LINK_LOCAL:
            self.address(ifindex, link_local(mac), 64, SCOPE_LINK)

    def address(self, ifindex, address, prefix_len, scope=SCOPE_UNIVERSE):
        text = '%s/%d' % (address, prefix_len)
        self.answers['addresses'].append({'ifindex': ifindex, 'address': text, 'peer': text,
                                          'metric': 0, 'flags': IFA_F_PERMANENT, 'scope': scope})

    def route(self, dst, ifindex, protocol=RTPROT_KERNEL, scope=SCOPE_LINK, metric=0, **more):
        self.answers['routes'].append({'dst': dst, 'ifindex': ifindex, 'metric': metric,
                                       'protocol': protocol, 'scope': scope, 'type': RTN_UNICAST, **more})

    def default(self, gateway, ifindex, protocol=RTPROT_BOOT, metric=0, **more):
        self.route('::/0' if ':' in gateway else '0.0.0.0/0', ifindex, protocol, SCOPE_UNIVERSE, metric,
                   gateway=gateway, **more)

    def ipv4(self, ifindex, address, prefix_len, prefix, **more):
        self.address(ifindex, address, prefix_len)
        self.route('%s/%d' % (prefix, prefix_len), ifindex, **more)

    def ibdev(self, name, address, guid, netdev, gids, rate, state='4: ACTIVE',
              node_type='1: CA', has_umad=True, link_layer='Ethernet'):
        """gids: (index, GID, type, netdev of the GID); a slot that is not set has no files here. address: None for a
        device that its driver gave no parent."""
        parent = self.folders[address] if address else 'sys/devices/virtual'
        folder = '%s/infiniband/%s' % (parent, name)
        self.link('sys/class/infiniband/' + name, folder)
        os.makedirs(os.path.join(self.root, folder))
        if address:
            os.symlink('../../../' + address, os.path.join(self.root, folder, 'device'))
        self.file(folder + '/node_guid', guid + '\n')
        self.file(folder + '/node_type', node_type + '\n')
        port = folder + '/ports/1'
        self.file(port + '/state', state + '\n')
        self.file(port + '/link_layer', link_layer + '\n')
        self.file(port + '/rate', rate + '\n')
        for index, gid, gid_type, gid_netdev in gids:
            self.file('%s/gids/%d' % (port, index), gid + '\n')
            if gid_type:
                self.file('%s/gid_attrs/types/%d' % (port, index), gid_type + '\n')
            if gid_netdev:
                self.file('%s/gid_attrs/ndevs/%d' % (port, index), gid_netdev + '\n')
        self.characters(name, parent, has_umad)
        self.answers['rdma'].append({'name': name, 'index': len(self.answers['rdma']),
                                     'netdev': netdev, 'contexts': 0, 'verbs': 0})

    def characters(self, name, parent, has_umad):
        classes = [('infiniband_verbs', 'uverbs')] + [('infiniband_mad', 'umad')] * has_umad
        for kind, prefix in classes:
            node = '%s%d' % (prefix, self.n_uverbs)
            folder = '%s/%s/%s' % (parent, kind, node)
            self.link('sys/class/%s/%s' % (kind, node), folder)
            self.file(folder + '/ibdev', name + '\n')
            self.file('dev/infiniband/' + node, '')
        self.n_uverbs += 1

    def kubelet(self, policy):
        """As kubeadm lays it out."""
        self.file('usr/lib/systemd/system/kubelet.service',
                  '[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n')
        self.file('usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf',
                  '[Service]\n'
                  'Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"\n'
                  'ExecStart=\n'
                  'ExecStart=/usr/bin/kubelet $KUBELET_CONFIG_ARGS\n')
        self.file('var/lib/kubelet/config.yaml',
                  'apiVersion: kubelet.config.k8s.io/v1beta1\n'
                  'kind: KubeletConfiguration\n'
                  'topologyManagerPolicy: %s\n' % policy)

    def asked(self):
        """What is asked for stands beside NODE: a preset, as it was shipped when the node was made."""
        with open(os.path.join(HERE, self.name, 'rdma-provision.conf'), encoding='ascii') as f:
            self.config(f.read())

    def config(self, text):
        self.file('etc/rdma-provision/rdma-provision.conf', text)

    def done(self):
        # As "capture" writes them, but one item a line, which is easier to read and to compare.
        parts = []
        for key, value in self.answers.items():
            if value == []:
                continue
            if isinstance(value, list):
                items = ',\n  '.join(json.dumps(item) for item in value)
                parts.append('%s: [\n  %s\n ]' % (json.dumps(key), items))
            else:
                parts.append('%s: %s' % (json.dumps(key), json.dumps(value)))
        self.file('rdma-provision-answers.json', '{\n ' + ',\n '.join(parts) + '\n}\n')


def link_local(mac):
    """The link-local address of a MAC, as inet_ntop() writes it."""
    i = eui64(mac)
    return 'fe80::' + ':'.join('%x' % (i[k] << 8 | i[k + 1]) for k in range(0, 8, 2))


RDMA_MODULES = ['ib_umad', 'ib_uverbs', 'rdma_ucm']


def virtio_nic(t, address, n, ifindex, name, mac, **more):
    t.function('pci0000:00', address, 0x1AF4, 0x1041, 0x020000, 'virtio-pci', -1)
    t.netdev(ifindex, name, mac, address, '/virtio%d' % n, max_mtu=65535, **more)


def uplink(t, mac='00:16:3e:20:00:00', ifindex=2):
    """The NIC that carries the node: an address, the default route, and nothing of RDMA."""
    virtio_nic(t, '0000:00:05.0', 1, ifindex, 'eth0', mac)
    t.ipv4(ifindex, '172.16.0.10', 24, '172.16.0.0')
    t.default('172.16.0.1', ifindex)


def ecs_erdma(name, boot, is_compat, driver=''):
    """Two eRDMA ENIs beside a primary one; all three in one vSwitch, hence one prefix."""
    t = Tree(name)
    t.system('5.10.134-17.3.al8.x86_64', boot, 1, RDMA_MODULES)
    virtio_nic(t, '0000:00:05.0', 2, 2, 'eth0', '00:16:3e:10:00:00')
    t.ipv4(2, '192.168.0.10', 20, '192.168.0.0')
    t.route('0.0.0.0/0', 2, RTPROT_BOOT, SCOPE_UNIVERSE)
    for i in range(2):
        mac, ip, name = '00:16:3e:10:00:0%d' % (i + 1), '192.168.0.%d' % (11 + i), 'eth%d' % (i + 1)
        virtio_nic(t, '0000:00:0%d.0' % (6 + i), 3 + i, 3 + i, name, mac)
        t.ipv4(3 + i, ip, 20, '192.168.0.0')
        address = '0000:00:0%d.0' % (8 + i)
        t.function('pci0000:00', address, 0x1DED, 0x107F, 0x000000, 'erdma', -1)
        gids = [(0, default_gid(mac), 'RoCE v2', name), (1, ipv4_gid(ip), 'RoCE v2', name)]
        if not is_compat:  # iWARP: one GID, which is the MAC and no address
            gids = [(0, groups([int(part, 16) for part in mac.split(':')] + [0] * 10), 'IB/RoCE v1', name)]
        t.ibdev('erdma_%d' % i, address, groups(eui64(mac)), name, gids, '100 Gb/sec (4X EDR)',
                node_type='1: CA' if is_compat else '4: RNIC', has_umad=is_compat)
    t.config(driver +
             '[Device erdma]\n'
             'Match=driver:erdma\n'
             'Expect=2\n'
             '\n'
             '[Route]\n'
             'Manage=yes\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n'
             'Resource=aliyun/erdma\n')
    return t


def ack_no_driver():
    """Two eRDMA devices on the bus, and no driver for them on disk: the preset as it is shipped."""
    t = Tree('made-ack-no-driver')
    t.system('5.10.134-17.3.al8.x86_64', 14, 1, RDMA_MODULES)
    virtio_nic(t, '0000:00:05.0', 2, 2, 'eth0', '00:16:3e:10:00:00')
    t.ipv4(2, '192.168.0.10', 20, '192.168.0.0')
    t.default('192.168.0.253', 2)
    for i in range(2):
        virtio_nic(t, '0000:00:0%d.0' % (6 + i), 3 + i, 3 + i, 'eth%d' % (i + 1), '00:16:3e:10:00:0%d' % (i + 1))
        t.ipv4(3 + i, '192.168.0.%d' % (11 + i), 20, '192.168.0.0')
        t.function('pci0000:00', '0000:00:0%d.0' % (8 + i), 0x1DED, 0x107F, 0x000000, '', -1)
    t.answers['modules']['erdma'] = 'missing'
    t.asked()
    return t


def ack_controller():
    """As the ACK eRDMA Controller leaves two ENIs: routes of its own instead of the kernel's, from metric 200 on."""
    t = ecs_erdma('made-ack-controller', 16, True)
    t.answers['routes'] = [r for r in t.answers['routes'] if r['ifindex'] == 2 and r['dst'] != '0.0.0.0/0']
    t.default('192.168.15.253', 2)
    for i in range(2):
        t.route('192.168.0.0/20', 3 + i, RTPROT_BOOT, SCOPE_LINK, 200 + i)
        t.default('192.168.15.253', 3 + i, RTPROT_BOOT, 200 + i)
    t.asked()
    t.answers['modules']['erdma'] = {
        'state': 'loaded', 'path': '/lib/modules/5.10.134-17.3.al8.x86_64/extra/erdma.ko.xz',
        'version': '0.2.37', 'srcversion': 'E2A1F5C0D3B4968712AB3CD', 'intree': False,
        'parameters': {'compat_mode': 'bool', 'reserve_ports_base': 'ushort'}}
    t.module('erdma', '0.2.37', 'E2A1F5C0D3B4968712AB3CD', 'OE', 0, compat_mode='Y', reserve_ports_base='30608')
    return t


def ack_intree():
    """Two ERIs and the driver of Linux 6.12, whose RDMA devices have no parent; preset ack-erdma."""
    t = Tree('made-ack-intree')
    t.system('6.12.117+deb13-amd64', 18, 2, RDMA_MODULES)
    for i in range(3):
        virtio_nic(t, '0000:00:0%d.0' % (5 + i), 2 + i, 2 + i, 'eth%d' % i, '00:16:3e:12:00:0%d' % i)
        t.ipv4(2 + i, '192.168.0.%d' % (10 + i), 20, '192.168.0.0')
        if i == 0:
            t.default('192.168.15.253', 2)
    for i in range(2):
        mac = '00:16:3e:12:00:0%d' % (i + 1)
        t.function('pci0000:00', '0000:00:0%d.0' % (8 + i), 0x1DED, 0x107F, 0x020000, 'erdma', i)
        t.ibdev('erdma_%d' % i, None, groups(eui64(mac)), 'eth%d' % (i + 1),
                [(0, groups([int(part, 16) for part in mac.split(':')] + [0] * 10), 'IB/RoCE v1', None)],
                '2.5 Gb/sec (1X SDR)', node_type='4: RNIC', has_umad=False)
        t.file('sys/devices/virtual/infiniband/erdma_%d/node_desc' % i, 'Elastic RDMA Adapter stack\n')
    t.answers['modules']['erdma'] = {
        'state': 'loaded', 'path': '/lib/modules/6.12.117+deb13-amd64/kernel/drivers/infiniband/hw/erdma/erdma.ko.xz',
        'version': '', 'srcversion': '', 'intree': True, 'parameters': {}}
    t.module('erdma', '', '', '', 0)
    t.asked()
    t.done()


def vke_gpus():
    """Two NICs and four GPUs: one below the NIC's PCIe switch, one on its NUMA node, two with no NIC near; VKE's label."""
    t = Tree('made-vke-gpus')
    t.system('5.15.0-91-generic', 17, 2, RDMA_MODULES + ['mlx5_core', 'mlx5_ib'])
    uplink(t)
    for n, bus in enumerate(('42', '52')):
        mlx5_rail(t, n, n, '0000:%s:00.0' % bus, 0, 0x1021, 3 + n, 'eth%d' % (1 + n), 16, '10.1.%d.2' % n)
    for bus, parent, numa_node in (('43', '0000:41:01.0', 0), ('62', '0000:61:01.0', 0), ('c2', '0000:c1:01.0', 1),
                                   ('d2', '0000:d1:01.0', 1)):
        t.function('pci0000:%s/%s' % (parent[5:7], parent), '0000:%s:00.0' % bus, 0x10DE, 0x2330, 0x030200, 'nvidia', numa_node)
    t.asked()
    t.kubelet('best-effort')
    t.file('usr/lib/systemd/system/kubelet.service.d/20-labels.conf',
           '[Service]\nExecStart=\nExecStart=/usr/bin/kubelet $KUBELET_CONFIG_ARGS --node-labels=vke.node.rdma.mode=exclusive,vke.node.gpu.schedule=mgpu\n')
    return t


def ecs_erdma_in_use():
    """The same in standard mode, asked for compat, while a container has erdma_0 open."""
    t = ecs_erdma('made-ecs-erdma-in-use', 4, False, '[Driver]\nMode=compat\n\n')
    t.module('erdma', '0.2.37', 'E2A1F5C0D3B4968712AB3CD', 'OE', 0, compat_mode='N', legacy_mode='N',
             reserve_ports_base='30608', vector_num='32')
    t.answers['modules']['erdma'] = {
        'state': 'loaded', 'path': '/lib/modules/5.10.134-17.3.al8.x86_64/extra/erdma.ko.xz',
        'version': '0.2.37', 'srcversion': 'E2A1F5C0D3B4968712AB3CD', 'intree': False,
        'parameters': {'compat_mode': 'bool', 'legacy_mode': 'bool', 'reserve_ports_base': 'ushort',
                       'vector_num': 'uint'}}
    t.answers['rdma'][0]['contexts'] = 1
    pod = 'cri-containerd-5f0c1ab2d3e4 of pod 0d6c8a52-7b1e-4f3d-9a60-2f1e8c4b7d95'
    train = {'pid': 48213, 'command': 'all_reduce_perf', 'container': pod}
    t.answers['users'] = [{'target': '0000:00:08.0', 'use': 'open-context', **train, 'detail': 'erdma_0: 1 context'}]
    t.answers['netnses'] = [{'inode': 4026532441, 'name': 'cni-3e1c5b1a-8a0f-2b57-9d9e-64f0b6b8c1d2'}]
    return t


def mlx5_nic(t, port, address, numa_node, device, ifindex, name, total_vfs, **more):
    bus = address[5:7]
    parent = 'pci0000:%02x/0000:%02x:01.0' % (int(bus, 16) - 1, int(bus, 16) - 1)
    t.function(parent, address, 0x15B3, device, 0x020000, 'mlx5_core', numa_node, total_vfs)
    mac = 'b8:ce:f6:%s:00:%02x' % (bus, port)
    t.netdev(ifindex, name, more.pop('mac', mac), address, perm_mac=mac, **more)
    return mac, groups([0xB8, 0xCE, 0xF6, 0x03, 0x00, int(bus, 16), 0x00, port])


NO_LINK_RATE = '40 Gb/sec (4X QDR)'  # of mlx5_ib, whatever the card has: mlx5_query_port_roce()


def mlx5_rail(t, n, port, address, numa_node, device, ifindex, name, total_vfs, ip=None, rate='200 Gb/sec (4X HDR)', **more):
    """A NIC with the device mlx5_n, and with an address in a network of its own."""
    mac, guid = mlx5_nic(t, port, address, numa_node, device, ifindex, name, total_vfs, **more)
    if ip:
        t.ipv4(ifindex, ip, 24, ip.rsplit('.', 1)[0] + '.0')
    t.ibdev('mlx5_%d' % n, address, guid, name, mlx5_gids(mac, ip, name), rate,
            state='4: ACTIVE' if more.get('up', True) else '1: DOWN')
    return mac


def mlx5_gids(mac, ip, netdev):
    """Default GIDs first, then those of the address, each as v1 and as v2."""
    gids = [default_gid(mac)] + ([ipv4_gid(ip)] if ip else [])
    return [(2 * i + k, gid, kind, netdev) for i, gid in enumerate(gids)
            for k, kind in enumerate(['IB/RoCE v1', 'RoCE v2'])]


def lingjun_8xmlx5():
    """Four NICs of two ports on two NUMA nodes; both ports of the first are bond0."""
    t = Tree('made-lingjun-8xmlx5')
    t.system('5.10.134-16.3.al8.x86_64', 2, 2, RDMA_MODULES)
    uplink(t)
    bond_mac = 'b8:ce:f6:17:00:00'
    for nic, bus in enumerate(['17', '65', '98', 'd6']):
        for port in range(2):
            n = 2 * nic + port
            address, name, ip = '0000:%s:00.%d' % (bus, port), 'eth%d' % (n + 1), '10.20.%d.2' % (n + 1)
            if nic == 0:
                mlx5_nic(t, port, address, 0, 0x1021, 3 + n, name, 8, mtu=4200, master=20, mac=bond_mac)
            else:
                mlx5_rail(t, n, port, address, nic // 2, 0x1021, 3 + n, name, 8, ip, mtu=4200)
    # One ibdev for both ports, below the first; its GIDs are of the bond, its netdev is a slave.
    t.netdev(20, 'bond0', bond_mac, kind='bond', bond_mode=4, mtu=4200, max_mtu=65535)
    t.ipv4(20, '10.20.1.2', 24, '10.20.1.0')
    t.ibdev('mlx5_bond_0', '0000:17:00.0', 'b8ce:f603:0017:0000', 'eth1',
            mlx5_gids(bond_mac, '10.20.1.2', 'bond0'), '200 Gb/sec (4X HDR)')
    t.kubelet('restricted')
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared-multi\n'
             'Count=4\n'
             'MTU=4200\n'
             'Expect=8\n'
             '\n'
             '[Kubelet]\n'
             'TopologyManagerPolicy=best-effort\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def lingjun_bond():
    """Three NICs of two ports: one bonded, one that a bond without ports may get, one whose ports stay single."""
    t = Tree('made-lingjun-bond')
    t.system('5.10.134-16.3.al8.x86_64', 4, 2, RDMA_MODULES)
    uplink(t, '00:16:3e:17:00:00')
    bond_mac = 'b8:ce:f6:17:00:00'
    for nic, bus in enumerate(['17', '65', '98']):
        for port in range(2):
            n = 2 * nic + port
            address, name, ip = '0000:%s:00.%d' % (bus, port), 'eth%d' % (n + 1), '10.20.%d.2' % (n + 1)
            t.answers['devlink'].append({'pci': address, 'health': '', 'eswitch': 'legacy'})
            if nic == 0:
                mlx5_nic(t, port, address, 0, 0x1021, 3 + n, name, 8, master=20, mac=bond_mac)
            else:
                mlx5_rail(t, n, port, address, nic // 2, 0x1021, 3 + n, name, 8, ip if nic == 2 else None)
    t.netdev(20, 'bond0', bond_mac, kind='bond', bond_mode=4, max_mtu=65535)
    t.netdev(21, 'bond1', '7e:00:00:00:00:21', kind='bond', bond_mode=4, max_mtu=65535, carrier=False)
    t.ipv4(20, '10.20.1.2', 24, '10.20.1.0')
    t.ibdev('mlx5_bond_0', '0000:17:00.0', 'b8ce:f603:0017:0000', 'eth1',
            mlx5_gids(bond_mac, '10.20.1.2', 'bond0'), '200 Gb/sec (4X HDR)')
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def vke_4pf():
    """Four NICs of one port, no VFs yet; the last was never brought up."""
    t = Tree('made-vke-4pf')
    t.system('5.10.0', 3, 2, RDMA_MODULES)
    uplink(t)
    for n, bus in enumerate(['41', '65', 'a1', 'c5']):
        address, name = '0000:%s:00.0' % bus, 'eth%d' % (n + 1)
        is_up = n < 3
        mlx5_rail(t, n, 0, address, n // 2, 0x101B, 3 + n, name, 16, '10.30.%d.2' % (n + 1) if is_up else None,
                  up=is_up, carrier=is_up)
    t.kubelet('none')
    t.config('[Device rdma]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared-multi\n'
             'Count=4\n'
             'MTU=4200\n'
             '\n'
             '[Kubelet]\n'
             'TopologyManagerPolicy=best-effort\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n'
             'Resource=vke.volcengine.com/rdma\n')
    t.done()


def vke_modes():
    """Two NICs with four VFs each, of which a container has one open; now preset vke-shared, which wants one."""
    t = Tree('made-vke-modes')
    t.system('5.10.0', 31, 2, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    for n, bus in enumerate(['41', '65']):
        pf = '0000:%s:00.0' % bus
        mlx5_rail(t, n, 0, pf, n, 0x101B, 3 + n, 'eth%d' % (n + 1), 16, '10.30.%d.2' % (n + 1))
        for v in range(4):
            vf, mac, name = '0000:%s:00.%d' % (bus, v + 1), '02:00:%s:00:00:%02x' % (bus, v), 'eth%dv%d' % (n + 1, v)
            t.vf(pf, v, vf, 0x101C, 'mlx5_core', n, mac=mac)
            t.netdev(10 * (n + 1) + v, name, mac, vf, perm_mac=mac)
            t.ibdev('mlx5_%d' % (10 * (n + 1) + v), vf, groups(eui64(mac)), name, mlx5_gids(mac, None, name),
                    '200 Gb/sec (4X HDR)')
            t.answers['rdma'][-1]['contexts'] = int(n == v == 0)
    t.answers['users'] = [{'target': '0000:41:00.1', 'use': 'open-context', 'pid': 2199, 'command': 'python3',
                           'container': 'cri-0123456789ab', 'detail': 'mlx5_10'}]
    t.kubelet('none')
    t.asked()
    t.done()


def mlx5_slow():
    """Four NICs that work, each with something that costs speed, and a runtime that lets pods lock little memory."""
    t = Tree('made-mlx5-slow')
    t.system('6.12.0', 5, 2, RDMA_MODULES + ['mlx5_core'])
    gen5, gen4, gen3 = '32.0 GT/s PCIe', '16.0 GT/s PCIe', '8.0 GT/s PCIe'
    links = [((gen4, 16), (gen5, 16), (gen4, 16), 'identity'),  # its slot has no more: no hint
             ((gen3, 8), (gen5, 16), (gen5, 16), 'identity'),  # trained down
             ((gen5, 16), (gen5, 16), (gen5, 16), 'DMA-FQ'),  # and its cable is a slower one
             (('Unknown', 0), (gen5, 16), (gen5, 16), None)]  # tells nothing
    for n, bus in enumerate(['41', '65', 'a1', 'c5']):
        address = '0000:%s:00.0' % bus
        mlx5_rail(t, n, 0, address, n // 2, 0x1021, 3 + n, 'eth%d' % (n + 1), 16, '10.30.%d.2' % (n + 1),
                  '200 Gb/sec (4X HDR)' if n == 2 else '400 Gb/sec (4X NDR)')
        t.pcie(address, *links[n])
    # Errors that the kernel counted; corrected ones are no hint.
    for bus, kind, total, words in (('41', 'correctable', 'COR', 'RxErr 7\nBadTLP 0\n'), ('65', 'fatal', 'FATAL', 'DLP 1\n'),
                                    ('65', 'nonfatal', 'NONFATAL', 'UnsupReq 0\nCmpltTO 3\n')):
        n = sum(int(line.split()[1]) for line in words.splitlines())
        t.file('%s/aer_dev_%s' % (t.folders['0000:%s:00.0' % bus], kind), '%sTOTAL_ERR_%s %d\n' % (words, total, n))
    # A VF with a narrow link of its own and an IOMMU that translates: of VFs neither is a hint.
    vf = '0000:c5:00.1'
    mlx5_rail(t, 4, 1, vf, 1, 0x101E, 8, 'eth5', None, None, '400 Gb/sec (4X NDR)')
    t.link('%s/virtfn0' % t.folders[address], t.folders[vf])
    t.pcie(vf, (gen3, 1), (gen5, 16), (gen5, 16), 'DMA')
    uplink(t)
    t.answers['memlocks'] = [{'unit': 'containerd.service', 'bytes': 8 << 20}, {'unit': 'crio.service', 'bytes': -1}]
    t.config('[Device rdma]\n'
             'Match=driver:mlx5_core\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def mlx5_qos():
    """Five ports and [QoS]: as shipped, as asked for, set by firmware, without DCB, and one that carries the node."""
    t = Tree('made-mlx5-qos')
    t.system('6.12.0', 7, 2, RDMA_MODULES + ['mlx5_core'])
    shipped = {'dcbx': 1, 'pfc': 'none', 'ets': '10234567 v,v,v,v,v,v,v,v', 'dscp': 64 * '-'}
    asked = {'dcbx': 1, 'pfc': '3', 'ets': '00010020 50,50,s,s,s,s,s,s', 'dscp': 26 * '-' + '3' + 21 * '-' + '6' + 15 * '-'}
    t.answers['dcb'] = []
    for n, (bus, dcb) in enumerate([('41', shipped), ('65', asked), ('a1', {**shipped, 'dcbx': 14}), ('c5', None),
                                    ('e1', shipped)]):
        mlx5_rail(t, n, 0, '0000:%s:00.0' % bus, n // 3, 0x1021, 3 + n, 'eth%d' % (n + 1), 16, '10.30.%d.2' % (n + 1))
        if dcb:
            t.answers['dcb'].append({'ifindex': 3 + n, **dcb})
        folder = 'sys/kernel/config/rdma_cm/mlx5_%d/ports/1/default_roce_' % n
        if n == 1:
            t.file(folder + 'tos', '106\n')
            t.file(folder + 'mode', 'RoCE v2\n')
    t.default('10.30.5.1', 7)
    t.config('[Device rdma]\n'
             'Match=driver:mlx5_core\n'
             '\n'
             '[QoS]\n'
             'TrustMode=dscp\n'
             'PFC=3\n'
             'ETS=0:50 3:50 6:strict\n'
             'DSCP=26:3 48:6\n'
             'RoceToS=106\n'
             'RoceMode=v2\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n'
             '\n'
             '[Output]\n'
             'NCCL=/etc/nccl.conf\n')
    t.done()


def mlx5_crashed():
    """The service was killed between autoprobe off and on: two VFs that no driver has."""
    t = Tree('made-mlx5-crashed')
    t.system('6.12.0', 4, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    pf = '0000:41:00.0'
    mlx5_rail(t, 0, 0, pf, 0, 0x101B, 3, 'eth1', 16, '10.30.1.2')
    t.file(t.folders[pf] + '/sriov_drivers_autoprobe', '0\n')
    t.file('var/lib/rdma-provision/memory.json', json.dumps({'autoprobe': [{
        'boot_id': '00000000-0000-4000-8000-000000000004', 'pci': pf}]}) + '\n')
    t.answers['vf_infos'] = []
    for i in range(2):
        vf = '0000:41:00.%d' % (i + 1)
        t.function('pci0000:40/0000:40:01.0', vf, 0x15B3, 0x101C, 0x020000, None, 0)
        t.link('%s/virtfn%d' % (t.folders[pf], i), t.folders[vf])
        t.answers['vf_infos'].append({'pf': pf, 'index': i, 'mac': '00:00:00:00:00:00',
                                      'trust': 0, 'link_state': 0})
    with open(os.path.join(t.root, t.folders[vf], 'modalias'), encoding='ascii') as modalias:
        t.answers['modalias'][modalias.read().strip()] = 'mlx5_core'
    t.config('[Device rdma]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared-multi\n'
             'Count=2\n'
             'Trust=yes\n')
    t.done()


def mlx5_team():
    """Both ports of a NIC are ports of a team of teamd: for mlx5 it is a LAG as a bond is."""
    t = Tree('made-mlx5-team')
    t.system('4.18.0-553.el8_10.x86_64', 6, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    mac = 'b8:ce:f6:17:00:00'
    for port in range(2):
        mlx5_nic(t, port, '0000:17:00.%d' % port, 0, 0x1021, 3 + port, 'ens1f%d' % port, 8, master=20, mac=mac)
    t.netdev(20, 'team0', mac, kind='team', max_mtu=65535)
    t.ipv4(20, '10.20.1.2', 24, '10.20.1.0')
    t.ibdev('mlx5_bond_0', '0000:17:00.0', 'b8ce:f603:0017:0000', 'ens1f0',
            mlx5_gids(mac, '10.20.1.2', 'team0'), '200 Gb/sec (4X HDR)')
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def mlx5_foreign():
    """Six VFs of one NIC, four of them of other programs, and a scalable function whose names come first."""
    t = Tree('made-mlx5-foreign')
    t.system('6.8.0-51-generic', 7, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    pf = '0000:41:00.0'
    mlx5_rail(t, 2, 0, pf, 0, 0x101D, 5, 'eth1', 16, '10.30.1.2')
    t.sf(pf, 2, 3, 'enp65s0f0s88', '00:00:00:00:88:88', 'mlx5_10', up=False, carrier=False)
    drivers = ['vfio-pci', 'pci-stub', None, 'mlx5_core', 'mlx5_core', None]
    for i, driver in enumerate(drivers):
        vf = '0000:41:00.%d' % (i + 1)
        t.vf(pf, i, vf, 0x101E, driver, 0)
        t.driver_override(vf, '(null)')
    t.modalias(vf, 'mlx5_core')
    t.driver_override('0000:41:00.3', 'vfio-pci')
    t.vdpa('0000:41:00.4', 'vdpa0')
    # The fifth is ours and was bound without a MAC; the last one has no driver yet.
    mac = '02:00:41:00:00:05'
    t.netdev(9, 'eth1v4', mac, '0000:41:00.5', perm_mac='', up=False, carrier=False)
    t.file('%s/net/eth1v4/addr_assign_type' % t.folders['0000:41:00.5'], '1\n')
    t.ibdev('mlx5_3', '0000:41:00.5', groups(eui64(mac)), 'eth1v4', mlx5_gids(mac, None, 'eth1v4'),
            '200 Gb/sec (4X HDR)', state='1: DOWN')
    t.config('[Device rdma]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared-multi\n'
             'Count=6\n'
             'MTU=4200\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def derived_mac(seed, index):
    """The MAC that Identity=derived gives a VF: src/step/identity-rules.c."""
    h = 0xCBF29CE484222325
    for byte in ('mac %s %d 0' % (seed, index)).encode('ascii'):
        h = (h ^ byte) * 0x100000001B3 % 2 ** 64
    h = (h ^ h >> 33) * 0xFF51AFD7ED558CCD % 2 ** 64
    h = (h ^ h >> 33) * 0xC4CEB9FE1A85EC53 % 2 ** 64
    h ^= h >> 33
    return ':'.join('%02x' % o for o in [h >> 40 & 0xFC | 2] + [h >> s & 0xFF for s in (32, 24, 16, 8, 0)])


def ipoib_mac(guid):
    """The MAC of an IPoIB netdev: a QP number, the subnet's prefix and the port's GUID."""
    return ':'.join('%02x' % o for o in [0, 0, 0x11, 7, 0xFE, 0x80] + [0] * 6 + [
        int(part[k:k + 2], 16) for part in guid.split(':') for k in (0, 2)])


def ib_port(t, address, name, guid, ifindex, netdev, state='4: ACTIVE', **more):
    """An InfiniBand function that is bound: its ibdev and its IPoIB netdev."""
    t.netdev(ifindex, netdev, ipoib_mac(guid), address, kind='ipoib', mtu=2044, max_mtu=4092, **more)
    t.ibdev(name, address, guid, netdev, [(0, 'fe80:0000:0000:0000:' + guid, '', '')],
            '400 Gb/sec (4X NDR)', state=state)
    t.file('%s/infiniband/%s/ports/1/link_layer' % (t.folders[address], name), 'InfiniBand\n')


def ib_vfs():
    """Two InfiniBand NICs whose VFs another tool made: bound without GUIDs and down; unbound."""
    t = Tree('made-ib-vfs')
    t.system('6.8.0-51-generic', 8, 2, RDMA_MODULES + ['mlx5_core', 'ib_ipoib'])
    t.answers['vf_infos'] = []
    none, no_link = '0000:0000:0000:0000', 2
    for n, bus in enumerate(['41', 'a1']):
        pf, guid = '0000:%s:00.0' % bus, 'b8ce:f603:00%s:0000' % bus
        parent = 'pci0000:%02x/0000:%02x:01.0' % (int(bus, 16) - 1, int(bus, 16) - 1)
        t.function(parent, pf, 0x15B3, 0x1021, 0x020700, 'mlx5_core', n, 16)
        ib_port(t, pf, 'mlx5_%d' % n, guid, 3 + n, 'ib%d' % n)
        for i in range(2):
            vf, is_bound = '0000:%s:00.%d' % (bus, i + 1), n == 0
            t.vf(pf, i, vf, 0x101E, 'mlx5_core' if is_bound else None, n, link_state=no_link,
                 node_guid=none, port_guid=none)
            if is_bound:
                ib_port(t, vf, 'mlx5_%d' % (2 + i), none, 10 + i, 'ib0v%d' % i, state='1: DOWN', carrier=False)
            else:
                t.modalias(vf, 'mlx5_core')
    t.config('[Device fabric]\n'
             'Match=driver:mlx5_core\n'
             'VirtualFunctions=shared-multi\n'
             'Count=2\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def mlx5_identity():
    """One VF came up with a MAC that it was not given, one waits for its representor, and a NIC that is down would take
    default routes of a router."""
    t = Tree('made-mlx5-identity')
    t.system('6.8.0-51-generic', 9, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    pf = '0000:41:00.0'
    mac = mlx5_rail(t, 0, 0, pf, 0, 0x101D, 3, 'eth1', 16, '10.30.1.2', port_name='p0')
    t.answers['devlink'].append({'pci': pf, 'health': '', 'eswitch': 'switchdev'})
    given = [derived_mac(mac, i) for i in range(2)]
    for i, came_up in enumerate([given[0], 'b6:21:5e:00:00:01']):
        vf, name = '0000:41:00.%d' % (i + 1), 'eth1v%d' % i
        t.vf(pf, i, vf, 0x101E, 'mlx5_core', 0, mac=given[i])
        t.netdev(10 + i, name, came_up, vf, carrier=i > 0)
        t.ibdev('mlx5_%d' % (2 + i), vf, groups([int(o, 16) for o in came_up.split(':')[:3]] + [0xFF, 0xFE] + [
            int(o, 16) for o in came_up.split(':')[3:]]), name, mlx5_gids(came_up, None, name),
                '200 Gb/sec (4X HDR)' if i else NO_LINK_RATE, state='4: ACTIVE' if i else '1: DOWN')
        t.netdev(20 + i, 'eth1r%d' % i, 'ee:21:5e:00:00:%02x' % i, pf, perm_mac='', port_name='pf0vf%d' % i, up=i > 0)
    mlx5_nic(t, 0, '0000:42:00.0', 0, 0x101D, 4, 'eth2', 16, up=False, carrier=False,
             conf={'ipv6/accept_ra': 1, 'ipv6/accept_ra_defrtr': 1})
    t.file('dev/kmsg',
           '6,901,4312001,-;mlx5_core 0000:41:00.2: enabling device (0000 -> 0002)\n'
           '4,902,4391213,-;mlx5_core 0000:41:00.2: mlx5_query_nic_vport_mac_address: firmware keeps b6:21:5e:00:00:01\n'
           ' SUBSYSTEM=pci\n'
           ' DEVICE=+pci:0000:41:00.2\n'
           '3,903,4391300,-;mlx5_core 0000:41:00.1: of another function\n')
    t.config('[Device vfs]\n'
             'Match=pci:0000:41:00.0\n'
             'VirtualFunctions=shared-multi\n'
             'Count=2\n'
             '\n'
             '[Device rail]\n'
             'Match=driver:mlx5_core\n')
    t.done()


def nm_late():
    """NetworkManager made the routes of two rails itself, and the third card's probe came before its firmware."""
    t = Tree('made-nm-late')
    t.system('5.14.0-503.el9.x86_64', 10, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    for n, bus in enumerate(['41', '65']):
        address, name, ip = '0000:%s:00.0' % bus, 'eth%d' % (n + 1), '10.30.%d.2' % (n + 1)
        mac, guid = mlx5_nic(t, 0, address, 0, 0xA2DC, 3 + n, name, 16)
        t.address(3 + n, ip, 24)
        t.answers['addresses'][-1]['flags'] |= IFA_F_NOPREFIXROUTE
        t.route('10.30.%d.0/24' % (n + 1), 3 + n, metric=101 + n)
        t.ibdev('mlx5_%d' % n, address, guid, name, mlx5_gids(mac, ip, name), '200 Gb/sec (4X HDR)')
    t.function('pci0000:a0/0000:a0:01.0', '0000:a1:00.0', 0x15B3, 0xA2DC, 0x020000, None, 0, 16)
    t.modalias('0000:a1:00.0', 'mlx5_core')
    t.driver_override('0000:a1:00.0', '(null)')
    t.file('dev/kmsg',
           '<3>[    7.100000] mlx5_core 0000:a1:00.0: mlx5_function_setup:1096: failed to map the initialization segment\n'
           '<6>[    7.500000] mlx5_core 0000:a1:00.0: firmware version: 28.43.1014\n'
           '<3>[  127.912345] mlx5_core 0000:a1:00.0: probe_one:1757:(pid 456): mlx5_init_one failed with error code -110\r\n'
           '<4>[  128.000000] mlx5_core 00000041:00:00.0: of a function that is not here\n'
           '<4>[  129.000000] audit: 12:34:56.7 is no address\n')
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             'Expect=3\n'
             '\n'
             '[Route]\n'
             'Manage=yes\n'
             'PolicyRules=no\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def e810():
    """An E810 that has RDMA by irdma, asked for VFs, which would have none."""
    t = Tree('made-e810')
    t.system('6.12.0-55.9.1.el10_0.x86_64', 8, 1, RDMA_MODULES + ['ice', 'irdma'])
    uplink(t)
    pf, mac, ip = '0000:98:00.0', 'b4:96:91:98:00:00', '10.30.1.2'
    t.function('pci0000:97/0000:97:01.0', pf, 0x8086, 0x1592, 0x020000, 'ice', 0, 128)
    t.netdev(3, 'ens7f0', mac, pf)
    t.ipv4(3, ip, 24, '10.30.1.0')
    t.ibdev('irdma0', pf, groups(eui64(mac)), 'ens7f0',
            [(0, default_gid(mac), 'RoCE v2', 'ens7f0'), (1, ipv4_gid(ip), 'RoCE v2', 'ens7f0')], '100 Gb/sec (4X EDR)')
    t.config('[Device rdma]\n'
             'Match=driver:ice\n'
             'VirtualFunctions=shared\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


def hgx_b300():
    """Two InfiniBand NICs of an HGX machine, and two that only its fabric manager may use."""
    t = Tree('made-hgx-b300')
    t.system('6.8.0-51-generic', 9, 1, RDMA_MODULES + ['mlx5_core', 'mlx5_ib'])
    for i, bus in enumerate(['03', '05', '18', '40']):
        address = '0000:%s:00.0' % bus
        t.function('pci0000:00/0000:00:%02x.0' % (i + 1), address, 0x15B3, 0x1021, 0x020700, 'mlx5_core', 0, 0)
        t.vpd(address, 'NVIDIA ConnectX-7%s\n' % (' SMDL=SW_MNG' if i < 2 else ''))
        t.ibdev('mlx5_%d' % i, address, 'b8ce:f603:00%s:0000' % bus, '',
                [(0, 'fe80:0000:0000:0000:b8ce:f603:00%s:0000' % bus, None, None)], '400 Gb/sec (4X NDR)',
                link_layer='InfiniBand')
    t.config('[Device rdma]\n'
             'Match=driver:mlx5_core\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=rdma-shared\n')
    t.done()


# --- what carries the node ---


def ack_primary_eri():
    """Two ERIs on an instance of several cards: the first is that of the primary ENI."""
    t = Tree('made-ack-primary-eri')
    t.system('5.10.134-17.3.al8.x86_64', 11, 1, RDMA_MODULES + ['erdma'])
    for i in range(2):
        mac, ip, name = '00:16:3e:11:00:0%d' % i, '192.168.0.%d' % (10 + i), 'eth%d' % i
        virtio_nic(t, '0000:00:0%d.0' % (5 + i), 2 + i, 2 + i, name, mac)
        t.ipv4(2 + i, ip, 20, '192.168.0.0')
        t.default('192.168.15.253', 2 + i, RTPROT_DHCP, 100 + 100 * i)
        address = '0000:00:0%d.0' % (8 + i)
        t.function('pci0000:00', address, 0x1DED, 0x107F, 0x000000, 'erdma', -1)
        gids = [(0, default_gid(mac), 'RoCE v2', name), (1, ipv4_gid(ip), 'RoCE v2', name)]
        t.ibdev('erdma_%d' % i, address, groups(eui64(mac)), name, gids, '100 Gb/sec (4X EDR)')
    t.asked()
    t.done()


def mlx5_rails(t, buses, first_ifindex, with_ipv4=True, total_vfs=16):
    """NICs of one port, each a network of its own."""
    for n, bus in enumerate(buses):
        address, name, ifindex = '0000:%s:00.0' % bus, 'rail%d' % n, first_ifindex + n
        ip = '10.30.%d.2' % n if with_ipv4 else None
        mlx5_rail(t, n + 2, 0, address, 0, 0x101D, ifindex, name, total_vfs, ip)


def mgmt_mlx5(name, boot, bonded):
    """Two rails, and a management NIC of two ports with the same driver: one port, or a bond of both."""
    t = Tree(name)
    t.system('5.15.0-91-generic', boot, 1, RDMA_MODULES + ['mlx5_core'])
    bond_mac = 'b8:ce:f6:5a:00:00'
    for port in range(2 if bonded else 1):
        more = {'master': 20, 'mac': bond_mac} if bonded else {}
        mac, guid = mlx5_nic(t, port, '0000:5a:00.%d' % port, 0, 0x1015, 2 + port, 'eth%d' % port, 8, **more)
        ip = None if bonded else '192.0.2.10'
        t.ibdev('mlx5_%d' % port, '0000:5a:00.%d' % port, guid, 'eth%d' % port,
                mlx5_gids(bond_mac if bonded else mac, ip, 'bond0' if bonded else 'eth0'), '25 Gb/sec (1X EDR)')
    if bonded:
        t.netdev(20, 'bond0', bond_mac, kind='bond', bond_mode=5, max_mtu=65535)
    t.ipv4(20 if bonded else 2, '192.0.2.10', 24, '192.0.2.0')
    t.default('192.0.2.1', 20 if bonded else 2)
    # Pods as Calico and a route to each node lay them out.
    t.route('10.244.1.0/24', 20 if bonded else 2, RTPROT_STATIC, SCOPE_UNIVERSE, gateway='192.0.2.11')
    mlx5_rails(t, ['81', 'a1'], 6, with_ipv4=False)
    t.asked()
    t.done()


def first_boot():
    """DHCP has not answered yet: what networkd says of its link tells which of three NICs is the node's."""
    t = Tree('made-first-boot')
    t.system('5.15.0-91-generic', 18, 1, RDMA_MODULES + ['mlx5_core'])
    mac, guid = mlx5_nic(t, 0, '0000:5a:00.0', 0, 0x1015, 2, 'eth0', 8)
    t.ibdev('mlx5_0', '0000:5a:00.0', guid, 'eth0', mlx5_gids(mac, None, 'eth0'), '25 Gb/sec (1X EDR)')
    t.file('run/systemd/netif/links/2', 'ADMIN_STATE=configuring\n')
    t.file('proc/self/net/packet', '0 0 0 0 2\n')
    mlx5_rails(t, ['81', 'a1'], 6, with_ipv4=False)
    t.asked()
    t.done()


def lingjun_ipv6_ra():
    """Four rails with an address and a default route by router advertisements; the node leaves by IPv4."""
    t = Tree('made-lingjun-ipv6-ra')
    t.system('5.10.134-16.3.al8.x86_64', 16, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t, '00:16:3e:16:00:00')
    for n, bus in enumerate(['17', '65', '98', 'd6']):
        address, name, ifindex = '0000:%s:00.0' % bus, 'rail%d' % n, 3 + n
        mac, guid = mlx5_nic(t, 0, address, 0, 0x1021, ifindex, name, 8)
        ip = 'fd10:%d::2' % n
        t.address(ifindex, ip, 64)
        t.answers['addresses'][-1]['flags'] = 0  # it has a lifetime
        t.route('fd10:%d::/64' % n, ifindex, RTPROT_KERNEL, SCOPE_UNIVERSE, 256)
        t.default('fe80::1', ifindex, RTPROT_RA, 1024)
        gids = mlx5_gids(mac, None, name) + [(2, groups([0xFD, 0x10, 0, n] + [0] * 11 + [2]), 'RoCE v2', name)]
        t.ibdev('mlx5_%d' % n, address, guid, name, gids, '400 Gb/sec (4X NDR)')
    t.asked()
    t.done()


def vf_host_address():
    """VFs that the host uses itself: one for storage, one with the node's default route."""
    t = Tree('made-vf-host-address')
    t.system('5.15.0-91-generic', 17, 1, RDMA_MODULES + ['mlx5_core'])
    for n, bus in enumerate(['41', '61']):
        pf = '0000:%s:00.0' % bus
        mlx5_rail(t, 2 * n, 0, pf, 0, 0x101D, 10 * n + 2, 'eth%d' % n, 16)
        vf, name = '0000:%s:00.1' % bus, 'eth%dv0' % n
        mac, ip = '02:00:%s:00:00:01' % bus, '10.99.%d.5' % n
        t.vf(pf, 0, vf, 0x101E, 'mlx5_core', 0, mac=mac)
        t.netdev(10 * n + 3, name, mac, vf, perm_mac=mac)
        t.ipv4(10 * n + 3, ip, 24, '10.99.%d.0' % n)
        t.ibdev('mlx5_%d' % (2 * n + 1), vf, groups(eui64(mac)), name, mlx5_gids(mac, ip, name),
                '200 Gb/sec (4X HDR)')
    t.default('10.99.0.1', 3)
    t.asked()
    t.done()


def mgmt_sf():
    """The default route is on a scalable function: its PF carries the node, the other NIC does not."""
    t = Tree('made-mgmt-sf')
    t.system('6.8.0-51-generic', 20, 1, RDMA_MODULES + ['mlx5_core'])
    for n, bus in enumerate(['41', '61']):
        mlx5_rail(t, n, 0, '0000:%s:00.0' % bus, 0, 0x1021, 10 * n + 2, 'eth%d' % n, 16)
    t.sf('0000:41:00.0', 88, 3, 'eth0s88', '00:00:00:00:88:88')
    t.ipv4(3, '10.0.0.30', 24, '10.0.0.0')
    t.default('10.0.0.1', 3)
    t.asked()
    t.done()


def scc_bond():
    """Both ports of the only NIC are bond0, which is RDMA device and way of the node at once."""
    t = Tree('made-scc-bond')
    t.system('4.19.91-27.al7.x86_64', 18, 1, RDMA_MODULES + ['mlx5_core'])
    mac = 'b8:ce:f6:3b:00:00'
    for port in range(2):
        _, guid = mlx5_nic(t, port, '0000:3b:00.%d' % port, 0, 0x1015, 2 + port, 'eth%d' % port, 8, master=20, mac=mac)
        t.answers['links'][-1]['perm_mac'] = 'b8:ce:f6:3b:00:0%d' % port
    t.netdev(20, 'bond0', mac, kind='bond', bond_mode=4, max_mtu=65535)
    t.ipv4(20, '10.0.0.20', 16, '10.0.0.0')
    t.default('10.0.255.253', 20)
    t.ibdev('mlx5_bond_0', '0000:3b:00.0', 'b8ce:f603:003b:0000', 'eth0', mlx5_gids(mac, '10.0.0.20', 'bond0'),
            '25 Gb/sec (1X EDR)')
    t.asked()
    t.done()


def needs_unknown():
    """No route beyond the own networks: two rails with addresses, either of which may carry the node, and one without."""
    t = Tree('made-needs-unknown')
    t.system('6.8.0-51-generic', 21, 1, RDMA_MODULES + ['mlx5_core'])
    mlx5_rails(t, ['41', '61'], 3)
    mlx5_rail(t, 4, 0, '0000:81:00.0', 0, 0x101D, 5, 'rail2', 16)
    t.config(VFS + 'MTU=4200\n\n' + ROUTES + PLUGIN)
    t.done()


def needs_hosts():
    """The kubelet takes its address from /etc/hosts: not that of the NIC with the default route."""
    t = Tree('made-needs-hosts')
    t.system('6.8.0-51-generic', 22, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    mlx5_rail(t, 0, 0, '0000:5a:00.0', 0, 0x1015, 3, 'cluster0', 8, '10.8.0.7', '25 Gb/sec (1X EDR)')
    mlx5_rails(t, ['81'], 4)
    t.file('etc/hostname', 'worker-7\n')
    t.file('etc/hosts', '127.0.0.1 localhost\n127.0.1.1 worker-7\n10.8.0.7 worker-7.nodes.example Worker-7\n')
    t.kubelet('none')
    t.config(VFS + 'MTU=4200\n\n' + ROUTES + PLUGIN)
    t.done()


def needs_vrf():
    """The NIC that carries the node is in a VRF, and main has no default route."""
    t = Tree('made-needs-vrf')
    t.system('6.8.0-51-generic', 23, 1, RDMA_MODULES + ['mlx5_core'])
    vrf(t, 20, 'mgmt', 1020)
    vrf_rail(t, 0, '0000:5a:00.0', 2, 'eth0', 20, 1020, '192.0.2.10')
    mlx5_rails(t, ['81'], 4)
    t.config(VFS + '\n' + PLUGIN)
    t.done()


def needs_tunnel():
    """The default route is by WireGuard, whose peer is reached by the first NIC; the second is a rail."""
    t = Tree('made-needs-tunnel')
    t.system('6.8.0-51-generic', 24, 1, RDMA_MODULES + ['mlx5_core'])
    mlx5_rail(t, 0, 0, '0000:5a:00.0', 0, 0x1015, 2, 'eth0', 8, '10.7.0.10', '25 Gb/sec (1X EDR)')
    mlx5_rails(t, ['81'], 4)
    t.netdev(20, 'wg0', '', kind='wireguard', mtu=1420)
    t.address(20, '10.77.0.3', 32)
    t.route('0.0.0.0/0', 20)
    t.route('203.0.113.77/32', 2, RTPROT_BOOT, SCOPE_UNIVERSE, gateway='10.7.0.1')
    t.answers['tunnel_ends'] = [{'ifindex': 20, 'remote': '203.0.113.77'}]
    t.config(VFS + 'MTU=4200\n\n' + PLUGIN)
    t.done()


def needs_lease():
    """The lease of the node's NIC has ended in this boot: neither address nor route is left."""
    t = Tree('made-needs-lease')
    t.system('6.8.0-51-generic', 25, 1, RDMA_MODULES + ['mlx5_core'])
    mlx5_rail(t, 0, 0, '0000:5a:00.0', 0, 0x1015, 2, 'eth0', 8, None, '25 Gb/sec (1X EDR)')
    mlx5_rails(t, ['81'], 4, with_ipv4=False)
    t.file('var/lib/rdma-provision/memory.json', json.dumps({'schema': 1, 'boots': [{
        'boot_id': '00000000-0000-4000-8000-000000000025', 'time': 1790000000, 'kernel': '6.8.0-51-generic',
        'state': 'ready', 'steps': [], 'node_nics': [{
            'pci': '0000:5a:00.0', 'card': 'b8:ce:f6:5a:00:00', 'of': 'default inet 0',
            'words': 'eth0 has the default route'}]}]}) + '\n')
    t.asked()
    t.done()


def needs_nfs_root():
    """The root file system comes over a rail, the default route is elsewhere."""
    t = Tree('made-needs-nfs-root')
    t.system('6.8.0-51-generic', 26, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    mlx5_rails(t, ['81', 'a1'], 4)
    t.file('proc/cmdline', 'root=/dev/nfs nfsroot=10.30.0.200:/export/gpu ip=:::::rail0:dhcp\n')
    t.file('proc/self/mountinfo',
           '25 1 0:22 / / rw,relatime - nfs4 10.30.0.200:/export/gpu rw,vers=4.2,clientaddr=10.30.0.2,addr=10.30.0.200\n')
    t.config(VFS + 'MTU=4200\n\n' + ROUTES + PLUGIN)
    t.done()


# --- what is stacked on a NIC, and how rails have their addresses ---


def storage_vlan():
    """The host's storage is on a VLAN of a NIC that has no address itself; preset vke-exclusive."""
    t = Tree('made-storage-vlan')
    t.system('6.8.0-51-generic', 27, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    mlx5_rails(t, ['81', 'a1'], 4, with_ipv4=False)
    t.netdev(20, 'rail0.300', 'b8:ce:f6:81:00:00', kind='vlan', link=4)
    t.ipv4(20, '10.60.0.2', 24, '10.60.0.0')
    t.asked()
    t.done()


def ovs_dpdk():
    """OVS with DPDK has the port, the node's address is on a tap, and nothing tells what is behind that."""
    t = Tree('made-ovs-dpdk')
    t.system('5.14.0-503.el9.x86_64', 28, 1, RDMA_MODULES + ['mlx5_core'])
    mlx5_rail(t, 0, 0, '0000:5a:00.0', 0, 0x1015, 2, 'eth0', 8, None, '25 Gb/sec (1X EDR)')
    t.answers['rdma'][-1]['contexts'] = 2
    t.answers['users'] = [{'target': '0000:5a:00.0', 'use': 'open-context', 'pid': 2211, 'command': 'ovs-vswitchd',
                           'container': '', 'detail': 'mlx5_0: 2 contexts'}]
    t.netdev(20, 'br-phy', 'b8:ce:f6:5a:00:00', kind='tun')
    t.ipv4(20, '10.7.0.10', 24, '10.7.0.0')
    t.default('10.7.0.1', 20)
    mlx5_rails(t, ['81'], 4)
    mlx5_rail(t, 3, 0, '0000:a1:00.0', 0, 0x101D, 5, 'rail1', 16)
    t.asked()
    t.done()


def ipoib_child():
    """A partition's IPoIB netdev has the host's address, its parent none."""
    t = Tree('made-ipoib-child')
    t.system('6.8.0-51-generic', 29, 1, RDMA_MODULES + ['mlx5_core', 'ib_ipoib'])
    uplink(t)
    for n, bus in enumerate(['41', 'a1']):
        pf, guid = '0000:%s:00.0' % bus, 'b8ce:f603:00%s:0000' % bus
        t.function('pci0000:00/0000:00:%02x.0' % (n + 1), pf, 0x15B3, 0x1021, 0x020700, 'mlx5_core', 0, 0)
        ib_port(t, pf, 'mlx5_%d' % n, guid, 3 + n, 'ib%d' % n)
    t.netdev(20, 'ib0.8005', ipoib_mac('b8ce:f603:0041:0000'), kind='ipoib', link=3, mtu=2044, max_mtu=4092)
    t.ipv4(20, '10.60.0.2', 24, '10.60.0.0')
    t.config('[Device fabric]\n'
             'Match=driver:mlx5_core\n'
             '\n'
             '[DevicePlugin]\n'
             'Type=sriov\n')
    t.done()


def vrf(t, ifindex, name, table):
    t.netdev(ifindex, name, '0e:00:00:00:00:%02x' % ifindex, kind='vrf', mtu=65575, max_mtu=65575, vrf_table=table)
    t.answers['rules'] = [{'preference': 1000, 'table': 0, 'protocol': RTPROT_KERNEL, 'action': 1, 'src': '0.0.0.0/0',
                           'more': True}]


def vrf_rail(t, n, address, ifindex, name, master, table, ip):
    """A NIC in a VRF, whose table has its prefix and a default route."""
    mac, guid = mlx5_nic(t, 0, address, 0, 0x101D, ifindex, name, 16, master=master)
    prefix = ip.rsplit('.', 1)[0]
    t.address(ifindex, link_local(mac), 64, SCOPE_LINK)
    t.ipv4(ifindex, ip, 24, prefix + '.0', table=table)
    t.default(prefix + '.1', ifindex, table=table)
    t.ibdev('mlx5_%d' % n, address, guid, name, mlx5_gids(mac, ip, name), '200 Gb/sec (4X HDR)')


def vrf_rails():
    """Each rail is in a VRF of its own."""
    t = Tree('made-vrf-rails')
    t.system('6.8.0-51-generic', 30, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    for n, bus in enumerate(['81', 'a1']):
        vrf(t, 20 + n, 'fabric%d' % n, 200 + n)
        vrf_rail(t, n, '0000:%s:00.0' % bus, 4 + n, 'rail%d' % n, 20 + n, 200 + n, '10.30.%d.2' % n)
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             'MTU=4200\n'
             '\n' + ROUTES + PLUGIN)
    t.done()


def l3_rails():
    """A routed fabric: each rail has a /31 with its switch, and a route to all rails by that."""
    t = Tree('made-l3-rails')
    t.system('6.8.0-51-generic', 31, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    for n, bus in enumerate(['81', 'a1']):
        address, name, ip = '0000:%s:00.0' % bus, 'rail%d' % n, '10.90.%d.7' % n
        mac, guid = mlx5_nic(t, 0, address, 0, 0x101D, 4 + n, name, 16)
        t.ipv4(4 + n, ip, 31, '10.90.%d.6' % n)
        t.route('10.90.0.0/16', 4 + n, RTPROT_STATIC, SCOPE_UNIVERSE, 50 + n, gateway='10.90.%d.6' % n)
        t.ibdev('mlx5_%d' % n, address, guid, name, mlx5_gids(mac, ip, name), '200 Gb/sec (4X HDR)')
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             '\n' + ROUTES + PLUGIN)
    t.done()


def vlan_rails():
    """Rails have their addresses on a VLAN each, with a default route of a high metric."""
    t = Tree('made-vlan-rails')
    t.system('6.8.0-51-generic', 32, 1, RDMA_MODULES + ['mlx5_core'])
    uplink(t)
    for n, bus in enumerate(['81', 'a1']):
        address, name, ip = '0000:%s:00.0' % bus, 'rail%d' % n, '10.30.%d.2' % n
        mac, guid = mlx5_nic(t, 0, address, 0, 0x101D, 4 + n, name, 16)
        vlan = '%s.70' % name
        t.netdev(20 + n, vlan, mac, kind='vlan', link=4 + n)
        t.ipv4(20 + n, ip, 24, '10.30.%d.0' % n)
        t.default('10.30.%d.1' % n, 20 + n, metric=500 + n)
        gids = mlx5_gids(mac, None, name) + [(2 + i, *gid) for i, *gid in mlx5_gids(mac, ip, vlan)]
        t.ibdev('mlx5_%d' % n, address, guid, name, gids, '200 Gb/sec (4X HDR)')
    t.config('[Device rail]\n'
             'Match=driver:mlx5_core\n'
             'MTU=9000\n'
             '\n' + ROUTES + PLUGIN)
    t.done()


def causes():
    """Rails that look faulty and are not: RoCE switched off, a netdev in a namespace, a PF with a zero GUID; other
    programs set the number of VFs of a fourth."""
    t = Tree('made-causes')
    t.system('6.8.0-51-generic', 34, 1, RDMA_MODULES + ['mlx5_core', 'mlx5_ib'])
    uplink(t)
    for n, bus in enumerate(['17', '27', '37', '47']):
        address, name, ip = '0000:%s:00.0' % bus, 'rail%d' % n, '10.30.%d.2' % n
        mac, guid = mlx5_nic(t, 0, address, 0, 0x1021, 4 + n, name, 16)
        if n == 1:
            os.remove(os.path.join(t.root, 'sys/class/net', name))
            t.answers['links'] = [link for link in t.answers['links'] if link['name'] != name]
            t.answers['addresses'] = [a for a in t.answers['addresses'] if a['ifindex'] != 4 + n]
        else:
            t.ipv4(4 + n, ip, 24, '10.30.%d.0' % n)
        gids = [] if n == 0 else mlx5_gids(mac, ip, name if n != 1 else '')
        t.ibdev('mlx5_%d' % n, address, '0000:0000:0000:0000' if n == 2 else guid, name if n != 1 else '', gids,
                '400 Gb/sec (4X NDR)')
    t.answers['netnses'] = [{'inode': 4026532999, 'name': 'storage'}]
    t.file('etc/systemd/network/10-rail3.link', '[Match]\nPath=pci-0000:47:00.0\n[Link]\nSR-IOVVirtualFunctions=8\n')
    t.file('etc/netplan/50-rails.yaml', 'network:\n  ethernets:\n    rail3:\n      virtual-function-count: 8\n')
    t.file('etc/netplan/60-eth0.yaml', 'network:\n  ethernets:\n    eth0:\n      virtual-function-count: 8\n')
    t.file('etc/netplan/70-vlans.yaml', 'network:\n  tunnels:\n    v:\n      link: rail3\n'
           '  ethernets:\n    rail3:\n      routes: [{to: 10.0.0.0/8, scope: link}]\n'
           '  vlans:\n    rail3.7:\n      id: 7\n      link: rail3\n\n    rail3.8: {id: 8, link: rail3}\n')
    t.file('etc/netplan/80-links.yaml', 'network:\n  vlans: {}\n  ethernets:\n    rail3v0:\n      link: rail3\n')
    t.file('etc/udev/rules.d/50-off.rules', '# ATTR{device/sriov_numvfs}="8"\n')
    t.file('etc/sysfs.d/rails.conf', 'class/net/rail3/device/sriov_numvfs = 8\n')
    t.file('var/lib/cloud/instance/scripts/part-001',
           '#!/bin/sh\nfor i in rail3; do echo 8 >/sys/class/net/$i/device/sriov_numvfs; done\n')
    # Hooks of one name in two folders; and no file of the name that udev reads is where systemd has its units.
    t.file('etc/network/if-pre-up.d/rails', '#!/bin/sh\ntrue\n')
    t.file('etc/network/if-up.d/rails', '#!/bin/sh\necho 8 >/sys/class/net/rail3/device/sriov_numvfs\n')
    t.file('etc/systemd/system/rails.rules', 'rail3 sriov_numvfs\n')
    t.config('[Device whole]\nMatch=pci:0000:17:00.0 pci:0000:27:00.0 pci:0000:37:00.0\n\n'
             '[Device shared]\nMatch=pci:0000:47:00.0\nVirtualFunctions=shared-multi\nCount=4\n\n' + PLUGIN)
    t.done()


def more_causes():
    """Functions that each lack something else, of which something cheaper than the catch-all reason is seen."""
    t = Tree('made-more-causes')
    t.system('6.8.0-51-generic', 35, 1, RDMA_MODULES + ['mlx5_core', 'mlx5_ib', 'mlx4_core', 'mlx4_ib'])
    uplink(t)
    for bus, device, pci_class, driver, n_vfs in (
            ('17', 0xA2D3, 0x020000, 'mlx5_core', None), ('27', 0x1007, 0x020000, 'mlx4_core', 16),
            ('37', 0x1021, 0x020000, 'vfio-pci', 16), ('47', 0x1021, 0x020000, None, 16),
            ('57', 0x1021, 0x020700, 'mlx5_core', 16), ('67', 0x1021, 0x020000, 'mlx5_core', 16),
            ('77', 0x1021, 0x020000, 'vfio-pci', 16), ('87', 0x1021, 0x020000, 'mlx5_core', 16),
            ('97', 0x1021, 0x020000, 'mlx5_core', 16)):
        address, mac, name = '0000:%s:00.0' % bus, 'b8:ce:f6:%s:00:00' % bus, 'rail%d' % int(bus[0])
        root_port = '%02x' % (int(bus, 16) - 1)
        t.function('pci0000:%s/0000:%s:01.0' % (root_port, root_port), address, 0x15B3, device, pci_class, driver, 0, n_vfs)
        if driver in (None, 'vfio-pci'):
            t.driver_override(address, 'vfio-pci')
            t.modalias(address, 'mlx5_core')
        elif pci_class == 0x020000:
            t.netdev(3 + int(bus[0]), name, mac, address)
            t.ibdev('mlx%d' % int(bus[0]), address, groups(eui64(mac)), name, mlx5_gids(mac, None, name), '400 Gb/sec (4X NDR)',
                    state='1: DOWN' if bus == '67' else '4: ACTIVE')
    for i in range(2):
        t.vf('0000:87:00.0', i, '0000:87:00.%d' % (i + 1), 0x101E, None, 0)
    t.modalias('0000:87:00.1', 'mlx5_core')
    t.file(t.folders['0000:87:00.0'] + '/sriov_drivers_autoprobe', '0\n')
    t.file('run/rdma-provision/memory.json', json.dumps({'boot_id': '00000000-0000-4000-8000-000000000035',
                                                          'stuck': '0000:97:00.0'}) + '\n')
    t.config('[Device vfs]\nMatch=pci:0000:[1259]7:00.0\nVirtualFunctions=shared-multi\nCount=4\n\n'
             '[Device two]\nMatch=pci:0000:87:00.0\nVirtualFunctions=shared-multi\nCount=2\n\n'
             '[Device whole]\nMatch=pci:0000:[346]7:00.0\nExpect=4\n\n'
             '[Device none]\nMatch=driver:bnxt_en\n\n' + PLUGIN)
    t.done()


def xdr():
    """XDR cards have a second RDMA device for subnet management, smiN, without uverbs and of its own type; on the second
    card the device of users has no character devices either."""
    t = Tree('made-xdr')
    t.system('6.12.0-51-generic', 34, 1, RDMA_MODULES + ['mlx5_core', 'mlx5_ib'])
    uplink(t)
    for n, bus in enumerate(['0b', '0c']):
        address, mac = '0000:%s:00.0' % bus, 'b8:ce:f6:%s:00:00' % bus
        t.function('pci0000:%s/0000:0%d:01.0' % (bus, n + 1), address, 0x15B3, 0x1023, 0x020700, 'mlx5_core', 0)
        for name in 'smi%d' % n, 'xdr%d' % n:
            t.ibdev(name, address, groups(eui64(mac)), '', [(0, default_gid(mac), None, None)], '800 Gb/sec (4X XDR)',
                    link_layer='InfiniBand')
        t.answers['rdma'][-2].update({'smi': True, 'verbs': 1})
        shutil.rmtree(os.path.join(t.root, t.folders[address], 'infiniband_verbs', 'uverbs%d' % (2 * n)))
    shutil.rmtree(os.path.join(t.root, t.folders[address], 'infiniband_verbs'))
    t.config('[Device rail]\nMatch=driver:mlx5_core\n\n' + PLUGIN)
    t.done()


def two_ports():
    """A function with two netdevs and an RDMA device of two ports; the first has no cable."""
    t = Tree('made-two-ports')
    t.system('6.8.0-51-generic', 33, 1, RDMA_MODULES + ['mlx4_core', 'mlx4_ib'])
    uplink(t)
    address, macs = '0000:91:00.0', ['f4:52:14:91:00:01', 'f4:52:14:91:00:02']
    t.function('pci0000:90/0000:90:01.0', address, 0x15B3, 0x1007, 0x020000, 'mlx4_core', 0)
    t.netdev(3, 'ens1', macs[0], address, carrier=False)
    t.netdev(4, 'ens1d1', macs[1], address)
    t.ipv4(4, '10.30.0.2', 24, '10.30.0.0')
    t.ibdev('mlx4_0', address, groups(eui64(macs[0])), 'ens1', mlx5_gids(macs[0], None, 'ens1'), '10 Gb/sec (1X QDR)',
            state='1: DOWN')
    port = t.folders[address] + '/infiniband/mlx4_0/ports/2'
    t.file(port + '/state', '4: ACTIVE\n')
    t.file(port + '/link_layer', 'Ethernet\n')
    t.file(port + '/rate', '40 Gb/sec (4X QDR)\n')
    for index, gid, kind, netdev in mlx5_gids(macs[1], '10.30.0.2', 'ens1d1'):
        t.file('%s/gids/%d' % (port, index), gid + '\n')
        t.file('%s/gid_attrs/types/%d' % (port, index), kind + '\n')
        t.file('%s/gid_attrs/ndevs/%d' % (port, index), netdev + '\n')
    t.config('[Device storage]\nMatch=driver:mlx4_core\n\n' + PLUGIN)
    t.done()


def copy():
    """A copy of /sys as other tools make it, without the kernel's answers: what it lacks is not known."""
    t = Tree('made-copy')
    uplink(t)
    for n, (bus, driver, device) in enumerate([('82', 'mlx4_core', 0x1003), ('83', 'mlx5_core', 0x1021)]):
        address, mac = '0000:%s:00.0' % bus, 'b8:ce:f6:%s:00:00' % bus
        t.function('pci0000:80/0000:80:0%d.0' % (n + 1), address, 0x15B3, device, 0x020700, driver, 0)
        t.ibdev('mlx%d_0' % (4 + n), address, groups(eui64(mac)), '', [(0, default_gid(mac), None, None)],
                '56 Gb/sec (4X FDR)', link_layer='InfiniBand')
    for path in 'dev', 'sys/class/infiniband_verbs', 'sys/class/infiniband_mad', 'sys/module', 'proc':
        shutil.rmtree(os.path.join(t.root, path), ignore_errors=True)
    t.file('run/udev/data/b8:0', 'E:ID_SERIAL=disk\n')
    t.config('[Device copied]\nMatch=driver:mlx4_core\n\n'
             '[Device more]\nMatch=driver:mlx5_core\nVirtualFunctions=shared-multi\nCount=4\n\n' + PLUGIN)
    t.done()
    os.remove(os.path.join(t.root, 'rdma-provision-answers.json'))


VFS = '[Device rail]\nMatch=driver:mlx5_core\nVirtualFunctions=shared\n'
ROUTES = '[Route]\nManage=yes\n\n'
PLUGIN = '[DevicePlugin]\nType=rdma-shared\n'


def main():
    made = {
        'made-ack-controller': ack_controller,
        'made-ack-intree': ack_intree,
        'made-ack-no-driver': ack_no_driver,
        'made-ack-primary-eri': ack_primary_eri,
        'made-causes': causes,
        'made-copy': copy,
        'made-e810': e810,
        'made-ecs-erdma': lambda: ecs_erdma('made-ecs-erdma', 1, True),
        'made-ecs-erdma-in-use': ecs_erdma_in_use,
        'made-first-boot': first_boot,
        'made-hgx-b300': hgx_b300,
        'made-ib-vfs': ib_vfs,
        'made-ipoib-child': ipoib_child,
        'made-l3-rails': l3_rails,
        'made-lingjun-8xmlx5': lingjun_8xmlx5,
        'made-lingjun-bond': lingjun_bond,
        'made-lingjun-ipv6-ra': lingjun_ipv6_ra,
        'made-mgmt-bond-vke-exclusive': lambda: mgmt_mlx5('made-mgmt-bond-vke-exclusive', 14, True),
        'made-mgmt-bond-vke-shared': lambda: mgmt_mlx5('made-mgmt-bond-vke-shared', 15, True),
        'made-mgmt-vke-exclusive': lambda: mgmt_mlx5('made-mgmt-vke-exclusive', 12, False),
        'made-mgmt-vke-shared': lambda: mgmt_mlx5('made-mgmt-vke-shared', 13, False),
        'made-mgmt-sf': mgmt_sf,
        'made-mlx5-crashed': mlx5_crashed,
        'made-mlx5-foreign': mlx5_foreign,
        'made-mlx5-identity': mlx5_identity,
        'made-mlx5-qos': mlx5_qos,
        'made-mlx5-slow': mlx5_slow,
        'made-mlx5-team': mlx5_team,
        'made-needs-hosts': needs_hosts,
        'made-needs-lease': needs_lease,
        'made-needs-nfs-root': needs_nfs_root,
        'made-needs-tunnel': needs_tunnel,
        'made-needs-unknown': needs_unknown,
        'made-needs-vrf': needs_vrf,
        'made-more-causes': more_causes,
        'made-nm-late': nm_late,
        'made-ovs-dpdk': ovs_dpdk,
        'made-scc-bond': scc_bond,
        'made-storage-vlan': storage_vlan,
        'made-two-ports': two_ports,
        'made-vf-host-address': vf_host_address,
        'made-vke-4pf': vke_4pf,
        'made-vke-gpus': vke_gpus,
        'made-vke-modes': vke_modes,
        'made-vlan-rails': vlan_rails,
        'made-vrf-rails': vrf_rails,
        'made-xdr': xdr,
    }
    if len(sys.argv) < 2 or not set(sys.argv[2:]) <= set(made):
        sys.exit('usage: make-made.py FOLDER [NAME...], each one of: ' + ' '.join(made))
    os.chdir(sys.argv[1])
    for name in sys.argv[2:] or made:
        t = made[name]()
        if t:
            t.done()


if __name__ == '__main__':
    main()
