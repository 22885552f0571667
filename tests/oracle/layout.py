# SPDX-License-Identifier: Apache-2.0
"""A random node: the commands of ip that build it, files, configuration, and where it must reach. One seed is one node."""
import collections
import ipaddress
import random

DRIVERS = {'mlx5_core': ('15b3', '1021'), 'erdma': ('1ded', '107f')}


class Function:
    """A PCI function, its netdev (a veth end whose other end is elsewhere) and its RDMA device."""

    def __init__(self, number, name, driver, pf=None, index=0):
        self.number, self.name, self.driver, self.pf, self.index = number, name, driver, pf, index
        self.is_ours = driver in DRIVERS
        slot = 0x41 + (pf.number if pf else number)
        self.pci = '0000:%02x:%02x.%d' % (slot, 0, index + 2 if pf else 0)
        self.mac = '52:54:00:%02x:%02x:%02x' % (slot, index + 2 if pf else 0, 1)
        self.total_vfs, self.vfs = (0 if pf or not self.is_ours else 8), []
        self.ibdev = 'ib_%s' % name if self.is_ours else ''
        self.is_named = False  # literally, in a Match=
        self.is_down = False
        self.elsewhere = ''    # what uses it in a namespace that 'ip link' does not show here


class Layout:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random('rdma-provision %d' % seed)
        self.functions = []
        self.commands = []  # arguments of ip
        self.files = {}     # path: text
        self.config = ''
        self.destinations = []  # (why, address)
        self.servers6 = []  # addresses with a route of their own
        self.node_addresses = []  # what the kubelet announces
        self.mounts = []    # lines for mountinfo
        self.loopback = ''  # the node's address, where no NIC has it
        self.root = '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw'
        self.links = {}     # symbolic links below the root: path: target
        self.namespaces = []  # named ones
        self.listeners = []   # (address, VRF or ''): sockets of the host that listen there
        self.moved = []     # (netdev, namespace, commands of ip there)
        self.cmdline = 'BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro'
        self.constructs = collections.Counter()
        self.n_nets = self.n_links = self.n_tables = self.n_metrics = 0
        self.pools = []     # each Place
        self.type = self.mode = self.preset = ''  # of [DevicePlugin]; VirtualFunctions=
        self.wanted_vfs = self.wanted_mtu = 0  # for each PF that matches; 0: not asked for
        make(self)
        # Links first: some routes and nexthop objects need a carrier, which the kernel notices after some time.
        self.commands.sort(key=lambda c: not c.removeprefix('-6 ').startswith('link '))
        self.n_link_commands = sum(c.removeprefix('-6 ').startswith('link ') for c in self.commands)

    # --- small things ---
    def chance(self, percent):
        return self.random.randrange(100) < percent

    def pick(self, *values):
        return self.random.choice(values)

    def saw(self, construct):
        self.constructs[construct] += 1

    def ip(self, *words):
        self.commands.append(' '.join(str(w) for w in words))

    def name(self, prefix):
        self.n_links += 1
        return '%s%d' % (prefix, self.n_links)

    def table(self):
        self.n_tables += 1
        return 100 + self.n_tables

    def metric(self):
        """One that no other route has."""
        self.n_metrics += 1
        return 2000 + self.n_metrics

    def net(self, prefix_len=24):
        self.n_nets += 1
        if prefix_len == 31:
            return ipaddress.ip_network('10.31.%d.0/31' % self.n_nets)
        return ipaddress.ip_network('10.%d.%d.0/%d' % (100 + self.n_nets // 200, self.n_nets % 200, prefix_len))

    def net6(self):
        self.n_nets += 1
        return ipaddress.ip_network('fd00:%x::/64' % self.n_nets)


class Place:
    """An interface with addresses: where a route can leave by."""

    def __init__(self, layout, top, functions, vrf=None):
        self.layout, self.top, self.functions, self.vrf = layout, top, functions, vrf
        self.address = self.gateway = self.network = None
        self.address6 = self.gateway6 = self.network6 = None
        self.metric = 0

    def give4(self, network=None, host=10):
        l = self.layout
        self.network = network or l.net()
        if self.network.prefixlen == 31:
            self.address, self.gateway = self.network[0], self.network[1]
        else:
            self.address, self.gateway = self.network[host], self.network[1]
        where = ['table', self.vrf[1]] if self.vrf else []
        if self.network.prefixlen < 31 and l.chance(6):
            l.ip('addr', 'add', '%s/32' % self.address, 'dev', self.top)
            l.ip('route', 'add', '%s/32' % self.gateway, 'dev', self.top, 'scope', 'link', *where)
            l.saw('an address of 32 bits, and its gateway')
        elif self.network.prefixlen < 31 and l.chance(6):
            l.ip('addr', 'add', '%s/%d' % (self.address, self.network.prefixlen), 'dev', self.top, 'noprefixroute')
            l.ip('route', 'add', self.network, 'dev', self.top, 'scope', 'link', 'src', self.address, 'metric', l.metric(),
                 *where)
            l.saw('a prefix route of a network manager')
        else:
            l.ip('addr', 'add', '%s/%d' % (self.address, self.network.prefixlen), 'dev', self.top)

    def give6(self):
        l = self.layout
        self.network6 = l.net6()
        self.address6, self.gateway6 = self.network6[0x10], self.network6[1]
        l.ip('-6', 'addr', 'add', '%s/64' % self.address6, 'dev', self.top, 'nodad')

    def own_table(self):
        return self.vrf[1] if self.vrf else None


def up(l, name):
    l.ip('link', 'set', name, 'up')


def bond(l, functions):
    name, mode = l.name('bond'), l.pick('active-backup', '802.3ad', 'balance-xor')
    if l.chance(20):
        name = l.name('team')
        l.ip('link', 'add', name, 'type', 'team')
        l.saw('team')
    else:
        l.ip('link', 'add', name, 'type', 'bond', 'mode', mode, 'miimon', 100)
        l.saw('bond')
    for f in functions:
        l.ip('link', 'set', f.name, 'down')
        l.ip('link', 'set', f.name, 'master', name)
        up(l, f.name)
    up(l, name)
    return name


def stack_vlan(l, below, tag='vlan'):
    name = l.name('vl')
    if l.chance(30):
        l.ip('link', 'add', 'link', below, name, 'type', 'vlan', 'proto', '802.1ad', 'id', l.random.randrange(2, 4000))
    else:
        l.ip('link', 'add', 'link', below, name, 'type', 'vlan', 'id', l.random.randrange(2, 4000))
    l.saw(tag)
    up(l, name)
    return name


def stack_vlans(l, below):
    return stack_vlan(l, stack_vlan(l, below), 'stacked VLAN')


def stack_bridge(l, below):
    name = l.name('br')
    l.ip('link', 'add', name, 'type', 'bridge')
    l.ip('link', 'set', below, 'master', name)
    l.saw('bridge on VLAN' if below.startswith('vl') else 'bridge')
    up(l, name)
    return name


def bridge_of(l, functions):
    name = l.name('br')
    l.ip('link', 'add', name, 'type', 'bridge')
    for f in functions:
        l.ip('link', 'set', f.name, 'master', name)
    l.saw('bridge of several')
    up(l, name)
    return name


def stack_macvlan(l, below):
    name = l.name('mv')
    l.ip('link', 'add', 'link', below, name, 'type', 'macvlan', 'mode', l.pick('bridge', 'private'))
    l.saw('macvlan')
    up(l, name)
    return name


def stack_ipvlan(l, below):
    name = l.name('iv')
    l.ip('link', 'add', 'link', below, name, 'type', 'ipvlan', 'mode', l.pick('l2', 'l3'))
    l.saw('ipvlan')
    up(l, name)
    return name


def stack_macsec(l, below):
    name = l.name('ms')
    l.ip('link', 'add', 'link', below, name, 'type', 'macsec')
    l.saw('macsec')
    up(l, name)
    return name


def vrf(l, top):
    name, table = l.name('vrf'), l.table()
    l.ip('link', 'add', name, 'type', 'vrf', 'table', table)
    up(l, name)
    l.ip('link', 'set', top, 'master', name)
    l.saw('VRF')
    return name, table


STACKS = (stack_vlan, stack_vlans, stack_bridge, stack_macvlan, stack_ipvlan, stack_macsec)
PLAIN = 45  # percent of places that stand on a function directly


def place(l, functions, plain=PLAIN, may_vrf=True):
    """An interface above these functions, with no address yet. Several functions are a bond."""
    for f in functions:
        if f.is_down:
            up(l, f.name)
            f.is_down = False
    top = functions[0].name if len(functions) == 1 else bond(l, functions) if l.chance(80) else bridge_of(l, functions)
    if not l.chance(plain):
        how = [l.random.choice(STACKS)]
        if l.chance(25):
            how.append(l.pick(stack_vlan, stack_bridge, stack_macvlan))
        # A port of a bridge has no macvlan, and one macvlan no other kind beside it.
        for make_one in how:
            if make_one is stack_bridge and top.startswith(('mv', 'iv', 'br')):
                continue
            if make_one in (stack_macvlan, stack_ipvlan) and top.startswith(('mv', 'iv')):
                continue
            if make_one in (stack_vlan, stack_vlans) and top.startswith('iv'):  # it has no VLANs
                continue
            top = make_one(l, top)
    elif len(functions) == 1:
        l.saw('plain')
    p = Place(l, top, functions)
    if may_vrf and l.chance(8):
        p.vrf = vrf(l, top)
    return p


# --- default routes ---

def route(l, p, family, dst, *more, table=None):
    """A route by the gateway of a place, written in one of several ways."""
    gateway = p.gateway if family == 4 else p.gateway6
    v = ['-6'] if family == 6 else []
    where = ['table', table or p.own_table()] if table or p.vrf else []
    if not p.vrf and l.chance(15):
        l.n_links += 1
        number = l.n_links
        l.ip(*v, 'nexthop', 'add', 'id', number, 'via', gateway, 'dev', p.top)
        if l.chance(40):
            l.n_links += 1
            l.ip('nexthop', 'add', 'id', l.n_links, 'group', number)
            number = l.n_links
            l.saw('nexthop group')
        l.saw('nexthop object')
        l.ip(*v, 'route', 'add', dst, 'nhid', number, *where, *more)
    else:
        l.ip(*v, 'route', 'add', dst, 'via', gateway, 'dev', p.top, *where, *more)


def default_main(l, p, family):
    metric = ['metric', l.pick(50, 100, 101, 600)] if l.chance(50) else []
    proto = ['proto', l.pick('dhcp', 'static', 'boot')] if l.chance(50) else []
    route(l, p, family, 'default', *proto, *metric)
    l.saw('default in a VRF' if p.vrf else 'default in main')


def default_halves(l, p, family):
    for half in ('0.0.0.0/1', '128.0.0.0/1') if family == 4 else ('::/1', '8000::/1'):
        route(l, p, family, half)
    l.saw('two halves')


def default_table(l, p, family):
    table, v = l.table(), ['-6'] if family == 6 else []
    route(l, p, family, 'default', table=table)
    how = l.pick('all', 'suppress', 'from', 'to')
    preference = l.random.randrange(1000, 32000)
    if how == 'suppress':
        l.ip(*v, 'rule', 'add', 'pref', preference, 'table', 'main', 'suppress_prefixlength', 0)
        l.ip(*v, 'rule', 'add', 'pref', preference + 1, 'table', table)
    elif how == 'from':
        address = p.address if family == 4 else p.address6
        l.ip(*v, 'rule', 'add', 'pref', preference, 'from', address, 'table', table)
        l.ip(*v, 'rule', 'add', 'pref', 32767 + l.random.randrange(50), 'table', table)
    elif how == 'to':
        half = '0.0.0.0/0' if family == 4 else '::/0'
        l.ip(*v, 'rule', 'add', 'pref', preference, 'to', half, 'table', table)
    else:
        l.ip(*v, 'rule', 'add', 'pref', preference if l.chance(50) else 32800, 'table', table)
    l.saw('default in a table: ' + how)


def multipath(l, one, other):
    dst = l.pick('default', 'default', '203.0.113.0/24')
    if l.chance(50):
        l.ip('route', 'add', dst, 'nexthop', 'via', one.gateway, 'dev', one.top, 'weight', l.pick(1, 5), 'nexthop', 'via',
             other.gateway, 'dev', other.top)
        l.saw('multipath')
    else:
        l.n_links += 3
        a, b, group = l.n_links - 2, l.n_links - 1, l.n_links
        l.ip('nexthop', 'add', 'id', a, 'via', one.gateway, 'dev', one.top)
        l.ip('nexthop', 'add', 'id', b, 'via', other.gateway, 'dev', other.top)
        l.ip('nexthop', 'add', 'id', group, 'group', '%d/%d' % (a, b))
        l.ip('route', 'add', dst, 'nhid', group)
        l.saw('multipath by a nexthop group')


def unnumbered(l, places):
    """As BGP makes it: the node's address is on lo or a dummy, the default route has link-local gateways."""
    name = 'lo'
    if l.chance(50):
        name = l.name('dummy')
        l.ip('link', 'add', name, 'type', 'dummy')
        up(l, name)
    address = ipaddress.ip_address('10.77.0.%d' % l.random.randrange(1, 250))
    l.ip('addr', 'add', '%s/32' % address, 'dev', name)
    hops = []
    for i, p in enumerate(places):
        hops += ['nexthop', 'via', 'inet6', 'fe80::%x' % (i + 1), 'dev', p.top]
    l.ip('route', 'add', 'default', 'proto', 'bgp', 'src', address, 'metric', 20, *hops)
    l.loopback = str(address)
    l.saw('address on a loopback, link-local gateways')


def make_default(l, p, family):
    if p.vrf:
        default_main(l, p, family)
    else:
        (l.pick(default_main, default_main, default_main, default_table, default_table, default_halves))(l, p, family)


def tunnel(l, p, depth=0):
    """A tunnel whose outer packets leave by a place; it gets the default route."""
    remote = ipaddress.ip_address('172.%d.0.%d' % (l.random.randrange(18, 32), l.random.randrange(1, 250)))
    kind, name = l.pick('gre', 'gre', 'ipip', 'vxlan', 'gretap', 'geneve' if depth == 0 else 'gre', 'ip6gre'), l.name('tun')
    if kind == 'ip6gre' and not p.address6:
        kind = 'ipip'
    dev = ['dev', p.top] if l.chance(30) and kind != 'geneve' else []
    if kind == 'ip6gre':
        remote = ipaddress.ip_address('fd77::%x' % l.random.randrange(1, 9999))
        l.ip('-6', 'link', 'add', name, 'type', kind, 'remote', remote, 'local', p.address6, *dev)
    elif kind == 'vxlan':
        local = ['local', p.address] if l.chance(60) else []
        l.ip('link', 'add', name, 'type', 'vxlan', 'id', l.random.randrange(1, 4000), 'remote', remote, 'dstport', 4789,
             *local, *dev)
    elif kind == 'geneve':
        l.ip('link', 'add', name, 'type', 'geneve', 'id', l.random.randrange(1, 4000), 'remote', remote)
    else:
        mark = ['fwmark', '0x51'] if l.chance(30) else []
        l.ip('link', 'add', name, 'type', kind, 'remote', remote, 'local', p.address, *dev, *mark)
        if mark:
            l.saw('tunnel with a mark')
    up(l, name)
    if kind == 'ip6gre':
        route(l, p, 6, '%s/128' % remote)
    elif '0x51' in l.commands[-2] and l.chance(60):
        table = l.table()
        l.ip('route', 'add', 'default', 'via', p.gateway, 'dev', p.top, 'table', table)
        l.ip('rule', 'add', 'fwmark', '0x51', 'table', table, 'pref', l.random.randrange(100, 20000))
        l.saw('a table for marked packets')
    else:
        route(l, p, 4, '%s/32' % remote if l.chance(70) else '%s/16' % ipaddress.ip_network('%s/16' % remote, False)[0])
    t = Place(l, name, [])
    t.give4()
    l.saw('tunnel: ' + kind)
    if depth == 0 and l.chance(15):
        l.saw('tunnel in a tunnel')
        return tunnel(l, t, 1)
    if l.chance(15) and kind in ('gretap', 'vxlan'):
        top = stack_vlan(l, name)
        t = Place(l, top, [])
        t.give4()
        l.saw('VLAN on a tunnel')
    return t


# --- the rails ---

def rail(l, functions, shared_net):
    p = place(l, functions, plain=70)
    how = l.pick('plain', 'plain', 'same prefix', '/31', '/31', 'IPv6', 'both', '169.254')
    if how == 'same prefix' and not p.vrf:
        p.give4(shared_net, 20 + len(l.pools))
        l.saw('rails in one prefix')
    elif how == '/31':
        p.give4(l.net(31))
        where = ['table', p.own_table()] if p.vrf else []
        if l.chance(70):
            l.ip('route', 'add', '10.31.0.0/16' if l.chance(50) else '10.32.%d.0/24' % l.random.randrange(4), 'via',
                 p.gateway, 'dev', p.top, 'metric', l.metric(), *where)
        l.saw('/31 rail')
    elif how == 'IPv6':
        p.give6()
    elif how == '169.254':
        p.give4(ipaddress.ip_network('169.254.%d.0/24' % (l.n_nets + 1)))
        l.n_nets += 1
        l.saw('169.254')
    else:
        p.give4()
        if how == 'both':
            p.give6()
    l.pools.append(p)
    return p


def further_default(l, p):
    """A default route that does not win, as clouds give one to each NIC."""
    if p.address:
        l.ip('route', 'add', 'default', 'via', p.gateway, 'dev', p.top, 'metric', l.metric(),
             *(['table', p.own_table()] if p.vrf else []))
        l.saw('further default')


# --- the kubelet and others who must reach something ---

def k3s(l, node):
    address = node and (node.address or node.address6)
    lines = ['server: https://203.0.113.77:6443', 'token: x']
    if address and l.chance(60):
        lines.append('node-ip: %s' % address)
        l.node_addresses.append(str(address))
    elif address and node.address and l.chance(50):
        lines.append('flannel-iface: %s' % node.top)
        l.node_addresses.append(str(address))
    l.files['etc/rancher/k3s/config.yaml'] = '\n'.join(lines) + '\n'
    l.files['etc/systemd/system/k3s-agent.service'] = (
        '[Unit]\nDescription=Lightweight Kubernetes\n[Service]\nType=notify\nExecStart=/opt/bin/k3s agent\n')
    l.files['opt/bin/k3s'] = '#!/bin/sh\n'
    l.files['etc/hostname'] = 'node-%d\n' % l.seed
    l.files['etc/hosts'] = '127.0.0.1 localhost\n'
    l.saw('k3s')


def kubelet(l, node):
    if l.chance(8):
        k3s(l, node)
        return
    server, name, hosts = None, None, []
    l.files['etc/systemd/system/kubelet.service'] = (
        '[Unit]\nDescription=kubelet\n[Service]\n'
        'EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env\n'
        'ExecStart=/opt/bin/kubelet --kubeconfig=/etc/kubernetes/kubelet.conf --config=/var/lib/kubelet/config.yaml '
        '$KUBELET_KUBEADM_ARGS\n')
    l.files['opt/bin/kubelet'] = '#!/bin/sh\n'
    l.files['var/lib/kubelet/config.yaml'] = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n'
    flags = []
    announced = node and (node.address or node.address6)
    if announced and l.chance(10):
        flags.append('--node-ip=%s' % l.pick('::', '0.0.0.0'))
        l.saw('--node-ip= that chooses a family')
    elif announced and l.chance(45):
        flags.append('--node-ip=%s' % announced)
        l.node_addresses.append(str(announced))
        l.saw('--node-ip')
    elif announced and l.chance(20):
        flags.append('--hostname-override=%s' % announced)
        l.node_addresses.append(str(announced))
        l.saw('a node name that is an address')
    elif announced and l.chance(40):
        if l.chance(40):
            hosts.append('127.0.1.1 node-%d' % l.seed)
        if l.chance(20):
            hosts.append('10.66.6.6 node-%d' % l.seed)  # nobody here has it
        hosts.append('%s node-%d.example node-%d' % (announced, l.seed, l.seed))
        l.node_addresses.append(str(announced))
        l.saw('node name in /etc/hosts')
    elif l.loopback and l.chance(50):
        flags.append('--node-ip=%s' % l.loopback)
    l.files['var/lib/kubelet/kubeadm-flags.env'] = 'KUBELET_KUBEADM_ARGS="%s"\n' % ' '.join(flags)
    if l.chance(70):
        server = str(l.random.choice(reach(l)))
        l.destinations.append(('API server', server))
        url = '[%s]' % server if ':' in server else server
        if l.chance(30):
            hosts.append('%s api.cluster.example' % server)
            url = 'api.cluster.example'
            l.saw('API server by name')
        l.saw('API server')
        l.files['etc/kubernetes/kubelet.conf'] = (
            'apiVersion: v1\nkind: Config\nclusters:\n- name: default\n  cluster:\n    server: https://%s:6443\n'
            'contexts:\n- name: default\n  context:\n    cluster: default\n    user: default\n'
            'current-context: default\nusers:\n- name: default\n  user: {}\n' % url)
    if l.chance(50):
        name = str(l.random.choice(reach(l)))
        l.destinations.append(('name server', name))
        l.saw('name server')
    if name and l.chance(30):
        l.files['etc/resolv.conf'] = 'nameserver 127.0.0.53\noptions edns0\n'
        l.files['run/systemd/resolve/resolv.conf'] = 'nameserver %s\n' % name
        l.saw('a local stub')
    else:
        l.files['etc/resolv.conf'] = 'nameserver %s\n' % name if name else ''
    l.files['etc/hostname'] = 'node-%d\n' % l.seed
    l.files['etc/hosts'] = '127.0.0.1 localhost\n::1 localhost\n' + ''.join(h + '\n' for h in hosts)
    if l.chance(20):
        storage(l)


def storage(l):
    """The root file system, or one that the kubelet lives on, comes from the network."""
    peer = str(l.random.choice([a for a in reach(l) if '.' in str(a)] or ['203.0.113.9']))
    how = l.pick('NFS', 'NFS root', 'iSCSI', 'NVMe')
    l.destinations.append(('storage', peer))
    l.saw(how)
    if how == 'NFS':
        l.mounts.append('90 20 0:50 / %s rw,relatime - nfs4 %s:/export rw,vers=4.2,addr=%s' % (
            l.pick('/var/lib/kubelet', '/var/lib/containerd'), peer, peer))
    elif how == 'NFS root':
        l.root = '20 1 0:49 / / rw,relatime - nfs %s:/root rw,vers=3,nolock,addr=%s' % (peer, peer)
        l.cmdline = 'root=/dev/nfs nfsroot=%s:/root,vers=3 ip=dhcp' % peer
    elif how == 'iSCSI':
        session = 'sys/devices/platform/host2/session1/'
        l.files[session + 'iscsi_session/session1/targetname'] = 'iqn.2020-01.example:root\n'
        l.files[session + 'iscsi_session/session1/state'] = 'LOGGED_IN\n'
        connection = session + 'connection1:0/iscsi_connection/connection1:0/'
        for name in ('address', 'persistent_address'):
            l.files[connection + name] = peer + '\n'
        l.files[connection + 'port'] = '3260\n'
        disk = session + 'target2:0:0/2:0:0:0/block/sda/'
        l.files[disk + 'dev'], l.files[disk + 'sda1/dev'] = '8:0\n', '8:1\n'
        l.files[disk + 'sda1/partition'] = '1\n'
        l.links['sys/class/iscsi_session/session1'] = session + 'iscsi_session/session1'
        l.links['sys/class/iscsi_connection/connection1:0'] = connection.rstrip('/')
        l.links['sys/dev/block/8:1'], l.links['sys/dev/block/8:0'] = disk + 'sda1', disk.rstrip('/')
        l.links['sys/class/block/sda'], l.links['sys/class/block/sda1'] = disk.rstrip('/'), disk + 'sda1'
    else:
        controller = 'sys/devices/virtual/nvme-fabrics/ctl/nvme0'
        l.files[controller + '/transport'] = 'tcp\n'
        l.files[controller + '/address'] = 'traddr=%s,trsvcid=4420\n' % peer
        l.files[controller + '/state'] = 'live\n'
        subsystem = 'sys/devices/virtual/nvme-subsystem/nvme-subsys0'
        disk = subsystem + '/nvme0n1'
        l.files[disk + '/dev'], l.files[disk + '/nvme0n1p1/dev'] = '259:0\n', '259:1\n'
        l.files[disk + '/nvme0n1p1/partition'] = '1\n'
        l.links[subsystem + '/nvme0'] = controller
        l.links['sys/class/nvme/nvme0'] = controller
        l.links['sys/class/nvme-subsystem/nvme-subsys0'] = subsystem
        l.links['sys/dev/block/259:1'], l.links['sys/dev/block/259:0'] = disk + '/nvme0n1p1', disk
        l.links['sys/class/block/nvme0n1'], l.links['sys/class/block/nvme0n1p1'] = disk, disk + '/nvme0n1p1'
        l.root = '20 1 259:1 / / rw,relatime - ext4 /dev/nvme0n1p1 rw'


def elsewhere(l, f):
    """A macvlan or VLAN of a function in a named namespace, with an address there."""
    name, kind = l.name('pod'), l.pick('macvlan', 'vlan')
    if f.is_down:
        up(l, f.name)
        f.is_down = False
    l.ip('link', 'add', 'link', f.name, name, 'type', kind, *(['id', 77] if kind == 'vlan' else ['mode', 'bridge']))
    l.namespaces.append('ns-' + name)
    l.moved.append((name, 'ns-' + name, ['addr add 10.55.%d.2/24 dev %s' % (l.n_links, name), 'link set %s up' % name]))
    f.elsewhere = '%s in a named namespace' % name
    l.saw(kind + ' in a named namespace')


def reach(l):
    """Addresses to reach: behind a gateway, on a link, or anywhere."""
    found = [ipaddress.ip_address(a) for a in ('203.0.113.77', '198.51.100.8')]
    found += l.servers6
    for p in l.pools:
        if p.network and p.network.prefixlen < 31 and not p.vrf:
            found.append(p.network[200])
        if p.network6 and not p.vrf:
            found.append(p.network6[0x200])
    return found


def router_advertised(l, p):
    """As a router advertisement gives one to each rail."""
    if p.address6 and not p.vrf:
        l.ip('-6', 'route', 'add', 'default', 'via', 'fe80::%x' % (0x100 + l.n_nets), 'dev', p.top, 'proto', 'ra', 'metric', 1024,
             'expires', 1800)
        l.saw('default route of a router advertisement')


def specific_route(l, p):
    """As DHCP option 121 gives: a route to the servers alone."""
    dst = l.pick('198.51.100.0/24', '203.0.113.0/24', '203.0.113.77/32', '198.51.100.8/32', '192.0.2.0/24')
    if p.address6 and not p.vrf and l.chance(40):
        address = ipaddress.ip_address('fd99::%x' % l.random.randrange(1, 99))
        l.servers6.append(address)
        route(l, p, 6, '%s/%d' % (address, 128) if l.chance(50) else 'fd99::/64')
        l.saw('IPv6 route to servers alone')
    elif p.address and not p.vrf:
        route(l, p, 4, dst)
        l.saw('route to servers alone')


def no_way(l):
    l.ip('route', 'add', l.pick('blackhole', 'unreachable', 'prohibit'), l.pick('default', '192.0.2.0/24', '10.250.0.0/16'),
         'metric', l.pick(10, 4000))
    l.saw('blackhole or alike')


def rules_beside(l, p):
    table = l.table()
    if not p.address or p.vrf:
        return
    l.ip('route', 'add', 'default', 'via', p.gateway, 'dev', p.top, 'table', table)
    how = l.pick('from', 'fwmark', 'iif', 'oif', 'to')
    words = {'from': ['from', p.address], 'fwmark': ['fwmark', '0x10'], 'iif': ['iif', p.top], 'oif': ['oif', p.top],
             'to': ['to', l.pick('198.51.100.0/24', '10.99.0.0/16', '203.0.113.77')]}[how]
    l.ip('rule', 'add', *words, 'table', table, 'pref', l.random.randrange(100, 32700))
    l.saw('rule: ' + how)
    if l.chance(15):
        l.ip('rule', 'add', 'from', '10.88.0.0/16', l.pick('prohibit', 'blackhole', 'unreachable'), 'pref', 50)
        l.saw('rule that forbids')


# --- what is asked for ---

def configuration(l):
    how = l.pick('preset', 'preset', 'preset', 'shared-multi', 'shared', 'exclusive', 'rails', 'rails', 'keep sriov')
    sections, rest = [], ''
    match = l.pick('driver:mlx5_core', 'driver:mlx5_core', 'netdev:eth*', 'pci:0000:*', 'id:15b3:*')
    literal = [f for f in l.functions if f.is_ours and not f.pf and l.chance(12)] if l.chance(25) else []
    if how == 'preset':
        l.preset = l.pick('vke-shared', 'vke-shared-multi', 'vke-exclusive', 'lingjun', 'lingjun-ipv6', 'scc', 'ack-erdma')
        l.saw('preset ' + l.preset)
        l.type = {'vke': 'sriov', 'ack': 'none', 'lin': 'rdma-shared', 'scc': 'hca'}[l.preset[:3]]
        l.mode = 'exclusive' if l.preset == 'vke-exclusive' else ''
        l.wanted_vfs = {'vke-shared': 1, 'vke-shared-multi': 4}.get(l.preset, 0)
        return
    more = {'shared-multi': 'VirtualFunctions=shared-multi\nCount=2\n', 'shared': 'VirtualFunctions=shared\n',
            'exclusive': 'VirtualFunctions=exclusive\n'}.get(how, '')
    if how == 'rails' or l.chance(30):
        l.wanted_mtu = l.pick(1400, 1300)
        if literal:  # a NIC that is needed gets it as well, and nothing above it may lose IPv6
            l.wanted_mtu = 1400
        more += 'MTU=%d\n' % l.wanted_mtu
    for i, f in enumerate(literal):
        match_one = l.pick('pci:' + f.pci, 'netdev:' + f.name)
        sections.append('[Device named%d]\nMatch=%s\nExpect=0\n%s' % (i, match_one, more))
        f.is_named = True
        l.saw('named literally')
    sections.append('[Device rdma]\nMatch=%s\nExpect=0\n%s' % (match, more))
    if how == 'rails' or l.chance(40):
        rest += '[Route]\nManage=yes\nPolicyRules=%s\n' % l.pick('auto', 'yes')
        l.saw('Manage=yes')
    kind = 'rdma-shared' if how == 'rails' and l.chance(60) else 'sriov'
    rest += '[DevicePlugin]\nType=%s\nResource=example.com/rdma\n' % kind
    l.type, l.mode = kind, how
    l.wanted_vfs = {'shared-multi': 2, 'shared': 1}.get(how, 0)
    l.saw('configuration ' + how)
    l.config = ''.join(sections) + rest


def existing_vfs(l, pf):
    for i in range(l.pick(1, 2)):
        vf = Function(pf.number, '%sv%d' % (pf.name, i), pf.driver, pf, i)
        pf.vfs.append(vf)
        l.functions.append(vf)
    l.saw('VFs that exist')


def make(l):
    for i in range(l.random.randrange(3, 8)):
        l.functions.append(Function(i, 'eth%d' % i, 'mlx5_core'))
    for f in list(l.functions):
        if l.chance(10):
            existing_vfs(l, f)
    if l.chance(25):  # a NIC of the mainboard, that is no RDMA NIC
        l.functions.append(Function(40, 'eno1', 'igb'))
    for f in l.functions:
        f.is_down = l.chance(10)
        if not f.is_down:
            up(l, f.name)
    left = list(l.functions)
    l.random.shuffle(left)
    keep_free = [f for f in left if f.is_ours and not f.pf and not f.vfs][:l.pick(1, 1, 1, 1, 2)]
    left = [f for f in left if f not in keep_free]

    def take(several=15):
        count = 2 if len(left) > 2 and l.chance(several) else 1
        return [left.pop() for _ in range(count)]

    shared_net = ipaddress.ip_network('10.200.0.0/16')
    # The node's own way
    node = place(l, take(30))
    family = l.pick(4, 4, 4, 6, 46)
    if family != 6:
        node.give4()
    if family != 4:
        node.give6()
    l.pools.append(node)
    while left and not (len(l.pools) > 1 and l.chance(15)):
        rail(l, take(), shared_net)
    rails = l.pools[1:]

    how = l.pick(*['default'] * 5, 'multipath', *['tunnel'] * 3, 'none', 'servers', 'unnumbered', 'group')
    if how == 'tunnel' and node.address and not node.vrf:
        t = tunnel(l, node)
        make_default(l, t, 4)
    elif how in ('multipath', 'group') and node.address and not node.vrf and [p for p in rails if p.address and not p.vrf]:
        other = l.random.choice([p for p in rails if p.address and not p.vrf])
        multipath(l, node, other)
    elif how == 'unnumbered' and not node.vrf:
        unnumbered(l, [node] + [p for p in rails if not p.vrf][:l.pick(0, 1)])
    elif how in ('none', 'servers'):
        l.saw('no default')
    else:
        if node.address:
            make_default(l, node, 4)
        if node.address6:
            make_default(l, node, 6)
    if how == 'servers' or l.chance(15):
        specific_route(l, l.random.choice(l.pools))
    for p in rails:
        if l.chance(25):
            further_default(l, p)
        if l.chance(25):
            router_advertised(l, p)
        if l.chance(20):
            rules_beside(l, p)
    if l.chance(8):
        no_way(l)
    if l.chance(10):
        l.ip('link', 'add', 'docker0', 'type', 'bridge')
        l.ip('addr', 'add', '172.17.0.1/16', 'dev', 'docker0')
        up(l, 'docker0')
        l.saw('a bridge without ports')
    for p in l.pools:
        if p.vrf and p.address and l.chance(30):
            l.listeners.append((str(p.address), p.vrf[0]))
            l.saw('a socket bound to a VRF')
        elif p.address and not p.vrf and l.chance(6):
            l.listeners.append((str(p.address), ''))
            l.saw('a socket that listens on an address')
    if len(keep_free) > 1 and l.chance(50):
        elsewhere(l, keep_free[0])
    kubelet(l, node if l.chance(70) else l.random.choice(l.pools))
    configuration(l)
    if l.preset == 'ack-erdma':
        for f in l.functions:
            if f.is_ours:
                f.driver = 'erdma'
                f.total_vfs = 0
