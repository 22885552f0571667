# SPDX-License-Identifier: Apache-2.0
"""Asks the kernel, lets the program plan, carries the plan out, asks again. No rule of the program is computed here."""
import ipaddress
import json
import subprocess

import question

CONFIG = '/etc/rdma-provision.test.conf'
RTPROT_RA = 9
TUNNELS = ('gre', 'gretap', 'ipip', 'sit', 'vxlan', 'geneve', 'ip6gre', 'ip6gretap', 'ip6tnl')
DEFAULTS = {4: ('192.0.2.1', '198.51.100.1', '203.0.113.1', '233.252.0.1', '11.0.0.1', '100.20.30.40', '8.8.8.8'),
            6: ('2001:db8::1', '2001:4860::8888', '3fff::1', '2a00::1')}
# Of a function that is needed none of these may be a target; the first two are allowed where a section names it.
ALLOWED_BY_NAME = ('set-num-vfs', 'set-mtu')
CHANGES = ALLOWED_BY_NAME + (
    'rebind-driver', 'reload-module', 'set-dcb', 'set-roce', 'set-sysctl', 'set-metric', 'set-route', 'remove-route', 'add-rule',
    'remove-rule', 'add-address', 'remove-address', 'set-mac', 'set-name', 'keep-neighbour')


def ip_json(*words):
    done = subprocess.run(['ip', '-j', '-d', *words], capture_output=True, text=True, check=False)
    try:
        return [x for x in json.loads(done.stdout or '[]') if x]
    except ValueError:
        return []


class Net:
    """What stands on what, and who has which address, as the kernel tells."""

    def __init__(self, layout):
        self.links = {l['ifname']: l for l in ip_json('link')}
        self.addresses = {a['ifname']: a['addr_info'] for a in ip_json('addr')}
        self.routes = [dict(r, family=family) for family in (4, 6)
                       for r in ip_json('-%d' % family, 'route', 'show', 'table', 'all')]
        self.rules = [dict(r, family=family) for family in (4, 6) for r in ip_json('-%d' % family, 'rule')]
        self.nexthops = {n['id']: n for n in ip_json('nexthop')}
        self.functions = {f.name: f for f in layout.functions}
        self.listening = {address for address, _ in layout.listeners}

    def kind(self, name):
        return self.links.get(name, {}).get('linkinfo', {}).get('info_kind', '')

    def lower(self, name):
        found = [l for l, link in self.links.items() if link.get('master') == name]
        link = self.links.get(name, {})
        if 'link' in link and 'link_netnsid' not in link and link['link'] in self.links:
            found.append(link['link'])
        return found

    def below(self, name):
        """The functions that a netdev stands on."""
        seen, left = set(), [name]
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                left += self.lower(one)
        return {n for n in seen if n in self.functions}

    def tunnel_below(self, name):
        """A tunnel that a netdev is or stands on, or None."""
        left = [name]
        while left:
            one = left.pop()
            if self.kind(one) in TUNNELS:
                return one
            left += self.lower(one)
        return None

    def above(self, name):
        """The netdevs that stand on one, and itself; a VRF is no stack."""
        seen, left = set(), [name]
        while left:
            one = left.pop()
            if one in seen:
                continue
            seen.add(one)
            left += [l for l in self.links if one in self.lower(l) and self.kind(l) != 'vrf']
        return seen

    def hosts(self, name):
        """The addresses that somebody gave it."""
        return [a for a in self.addresses.get(name, []) if not (a['family'] == 'inet6' and a['scope'] == 'link')]

    def all_addresses(self):
        return {a['local'] for list_ in self.addresses.values() for a in list_}

    def routes_by(self, name):
        def devices(r):
            hops = r.get('nexthops', []) + ([r] if 'dev' in r else [])
            return [h.get('dev') for h in hops] + [d for d, _ in self.hops_of(r.get('nhid'))]
        return [r for r in self.routes if name in devices(r) and r.get('table') != 'local' and r.get('type') != 'multicast']

    def hops_of(self, number):
        n = self.nexthops.get(number)
        if not n:
            return []
        if 'group' in n:
            return [h for g in n['group'] for h in self.hops_of(g['id'])]
        return [(n['dev'], n.get('gateway'))] if 'dev' in n else []

    def family_has_default(self, vrf_table, family):
        return any(r['dst'] == 'default' and str(r.get('table')) == str(vrf_table) and r['family'] == family and
                   r.get('type') in (None, 'unicast') for r in self.routes)

    def default_destination(self, family):
        """An address that only a default route covers, and that no rule is for."""
        def covers(r, address):
            dst = r.get('dst', 'all')
            if r['family'] != family or dst in ('default', 'all') or r.get('table') == 'local':
                return False
            net = ipaddress.ip_network('%s/%s' % (dst, r['dstlen']) if 'dstlen' in r else dst, strict=False)
            return net.prefixlen > (1 if family == 4 else 3) and address in net
        for text in DEFAULTS[family]:
            if not any(covers(r, ipaddress.ip_address(text)) for r in self.routes + self.rules):
                return text
        return None


class Packet:
    """A packet to a destination: which device it leaves by, and by which gateway when its source is given."""

    def __init__(self, why, address, **more):
        self.why, self.address, self.more = why, str(address), more

    def way(self, net):
        """(device, gateway, source) of the answer; of a route with several next hops all of them, for a hash chooses."""
        answer = question.ask(self.address, **self.more)
        hops = sorted(self.hops(net)) if answer else []
        if len(hops) > 1:
            return '|'.join(d for d, _ in hops), '|'.join(g for _, g in hops), None
        return answer and (answer['dev'], answer['gateway'], answer['prefsrc'])

    def hops(self, net):
        """{(device, gateway)} of the route that matched."""
        match = question.ask(self.address, fibmatch=True, **self.more)
        if not match:
            return set()
        found = {(d, g or '') for d, g in match['hops'] + net.hops_of(match['nhid'])}
        return found or {(match['dev'], match['gateway'])}

    def is_advertised(self):
        match = question.ask(self.address, fibmatch=True, **self.more)
        return bool(match) and match['protocol'] == RTPROT_RA

    def devices(self, net):
        way = self.way(net)
        return set(way[0].split('|')) if way else set()

    def sources(self, net):
        """The addresses that a connection to it may have."""
        way = self.way(net)
        if not way or way[2]:
            return [way[2]] if way else []
        return [a['local'] for d in way[0].split('|') for a in net.hosts(d)[:1] if (':' in a['local']) == (':' in self.address)]

    def __str__(self):
        return '%s %s%s' % (self.why, self.address, ''.join(' %s %s' % m for m in self.more.items()))


def packets_of(layout, net):
    """All destinations of the node, with the ends of the tunnels that they leave by."""
    found = []
    for family in (4, 6):
        address = net.default_destination(family)
        if not address:
            continue
        packet = Packet('default', address)
        found.append(packet)
        has_way = packet.way(net)
        for name, link in net.links.items():
            if has_way and (family == 6 or name not in [vrf for _, vrf in layout.listeners]):
                continue
            if net.kind(name) == 'vrf' and net.family_has_default(link['linkinfo']['info_data']['table'], family):
                found.append(Packet('VRF default', address, oif=name))
    # Each rail may get a default route by router advertisement: it is the node's only where nothing else is known.
    if any(p.way(net) and ':' not in p.address for p in found) or set(layout.node_addresses) & net.all_addresses():
        found = [p for p in found if not p.is_advertised()]
    found += [Packet(why, address) for why, address in layout.destinations]
    for packet in found:  # grows
        tunnel = next(filter(None, (net.tunnel_below(d) for d in sorted(packet.devices(net)))), None)
        if not tunnel or len(found) > 40:
            continue
        link = net.links[tunnel]
        data = link['linkinfo'].get('info_data', {})
        remote = data.get('remote') or data.get('remote6')
        if not remote or remote in ('any', '0.0.0.0'):
            continue
        more = {}
        if data.get('fwmark') not in (None, '0x0', 0):
            more['mark'] = int(str(data['fwmark']), 0)
        under = link.get('link') if isinstance(link.get('link'), str) else data.get('link')
        if under:
            more['oif'] = under
        end = Packet('end of %s' % tunnel, remote, **more)
        if str(end) not in [str(p) for p in found]:
            found.append(end)
    return found


def from_source(packet, source):
    return Packet(packet.why + ', by its source', packet.address, source=source, **packet.more)


# --- carrying out ------------------------------------------------------------------------------------------------

def command(action, netdev):
    """The words for ip, or None where there is nothing to do for it; raises KeyError for what is not known."""
    verb, subject, to = action['verb'], action.get('subject', ''), action.get('to', '')
    detail = action.get('detail', '')
    six = ['-6'] if ':' in subject or 'of IPv6' in subject else []
    words = subject.replace(' of IPv6', '').split()
    where = detail.split() if detail.startswith(('dev ', 'via ')) else ['dev', detail if detail and ' ' not in detail else netdev]
    if verb in ('set-route', 'remove-route'):
        return six + ['route', 'replace' if verb == 'set-route' else 'del'] + words + where + ['proto', '114']
    if verb in ('add-rule', 'remove-rule'):
        preference = '30114' if words[0] == 'from' else '30115'
        return six + ['rule', 'add' if verb == 'add-rule' else 'del', 'pref', preference] + words + ['protocol', '114']
    if verb == 'set-metric':
        return six + ['addr', 'change', subject, 'dev', where[-1], 'metric', str(to)]
    if verb in ('add-address', 'remove-address'):
        return ['addr', 'add' if verb == 'add-address' else 'del', subject, 'dev', where[-1]]
    if verb == 'set-mtu':
        return ['link', 'set', where[-1], 'mtu', str(to)]
    if verb == 'set-link-up':
        return ['link', 'set', where[-1], 'up']
    return None


def sysctl(action, netdev):
    family, _, key = action['subject'].partition('/')
    detail = action.get('detail', '')
    dev = detail if detail and ' ' not in detail else netdev
    try:
        with open('/proc/sys/net/%s/conf/%s/%s' % (family, dev, key), 'w', encoding='ascii') as f:
            f.write('%s\n' % action['to'])
    except OSError:
        pass


def carry_out(actions, by_pci, run_batch, harm):
    lines = []
    for a in actions:
        netdev = by_pci[a['target']].name if a['target'] in by_pci else ''
        words = command(a, netdev)
        if a['verb'] == 'set-sysctl':
            sysctl(a, netdev)
        elif words:
            lines.append(' '.join(words))
    for line, trouble in run_batch(lines):
        if 'File exists' not in trouble:
            harm.append(('the kernel refused a step', '%s: %s' % (line, trouble)))
    return lines


# --- the verdict -------------------------------------------------------------------------------------------------

def plan_of(program):
    code, out, err = program.run('plan', '--json', '--config=' + CONFIG)
    try:
        document = json.loads(out)
    except ValueError:
        raise RuntimeError('plan ended with %d: %s %s' % (code, out[-300:], err[-300:]))
    changes = [a for a in document.get('actions', []) if a.get('class') == 'change']
    return document, changes


def status_of(program):
    code, out, err = program.run('status', '--json', '--config=' + CONFIG)
    try:
        document = json.loads(out)
    except ValueError:
        raise RuntimeError('status ended with %d: %s %s' % (code, out[-300:], err[-300:]))
    devices = {}
    for d in document.get('devices', []):
        for one in [d] + d.get('vfs', []):
            devices[one['pci']] = one
    return document, devices


def needed_of(layout, net, packets):
    """{function: why}: below the devices by which these packets leave, and below the kubelet's address."""
    needed = {}
    for p in packets:
        for dev in p.devices(net):
            for f in net.below(dev):
                needed.setdefault(f, '%s leaves by %s' % (p, dev))
    for address in layout.node_addresses:
        for name, list_ in net.addresses.items():
            if address in [a['local'] for a in list_]:
                for f in net.below(name):
                    needed.setdefault(f, 'the kubelet announces %s of %s' % (address, name))
    return needed


def use_of(net, name, may_be_addressed):
    """What the host has on a function, or '': what keeps it from being moved into a pod."""
    if may_be_addressed and {a['local'] for a in net.hosts(name)} & net.listening:
        return 'a socket listens on its address'
    own = net.links[name]
    if own.get('master') and net.kind(own['master']) != 'vrf':
        return 'a port of ' + own['master']
    for one in sorted(net.above(name)):
        if one != name and (net.hosts(one) or net.links[one].get('master') or net.routes_by(one)):
            return one + ' stands on it'
    for r in net.routes_by(name):
        is_own = r.get('protocol') in ('kernel', 'ra') or r['dst'].startswith(('fe80', 'ff00')) or (
            may_be_addressed and r.get('scope') == 'link')
        if not is_own and not (may_be_addressed and r['dst'] == 'default'):
            return 'the route %s' % r['dst']
    if net.hosts(name) and not may_be_addressed:
        return 'the address %s' % net.hosts(name)[0]['local']
    return ''


def judge_targets(layout, net, needed, changes, harm):
    by_pci = {f.pci: f for f in layout.functions}
    for a in changes:
        if a['verb'] not in CHANGES:
            continue
        if a['verb'] == 'reload-module':
            for f in layout.functions:
                if f.driver.split('_')[0] == a['target'].split('_')[0] and f.name in needed:
                    harm.append(('reload-module below a needed NIC', '%s: %s' % (a['target'], needed[f.name])))
            continue
        f = by_pci.get(a['target'])
        if not f:
            continue
        what = '%s %s %s -> %s' % (f.name, a['verb'], a.get('subject', ''), a.get('to', ''))
        if f.name in needed and not (f.is_named and a['verb'] in ALLOWED_BY_NAME):
            harm.append(('%s on a needed NIC' % a['verb'], '%s: %s' % (what, needed[f.name])))
        detail = a.get('detail', '')
        master = net.links.get(detail if detail in net.links else f.name, {}).get('master', '')
        if a['verb'] == 'set-mtu' and net.kind(master) in ('bond', 'team', 'bridge') and not f.is_named:
            harm.append(('set-mtu on a port of a LAG or bridge', '%s: %s' % (what, master)))
        if a['verb'] in ('set-metric', 'set-route', 'add-rule') and net.kind(master) == 'vrf':
            harm.append(('metric, table or rule of a port of a VRF', '%s: %s' % (what, master)))
        if a['verb'] == 'set-num-vfs' and a.get('from'):
            for vf in f.vfs:
                use = needed.get(vf.name) or use_of(net, vf.name, False)
                if use:
                    harm.append(('VFs removed that are in use', '%s: %s: %s' % (what, vf.name, use)))
        if a['verb'] == 'rebind-driver' and (f.elsewhere or use_of(net, f.name, True)):
            harm.append(('rebind-driver on a NIC in use', '%s: %s' % (what, f.elsewhere or use_of(net, f.name, True))))
        if a['verb'] == 'set-mtu' and f.pf and use_of(net, f.name, False):
            harm.append(('set-mtu on a VF in use', what))


def judge_unknown(layout, net, changes, harm):
    """No packet has a way, and nobody knows the node's address: any NIC with an address may be the node's."""
    may_be = {f for name in net.links if any(a['scope'] == 'global' for a in net.hosts(name)) for f in net.below(name)}
    for f in layout.functions:
        for a in changes:
            if a['target'] == f.pci and f.name in may_be and a['verb'] in CHANGES and 'first_vf' not in a and not (
                    f.is_named and a['verb'] in ALLOWED_BY_NAME):
                harm.append(('nothing is known, and %s on a NIC with an address' % a['verb'], f.name))


def judge_handed_out(layout, net, needed, devices, harm):
    if layout.type != 'sriov':
        return
    for f in layout.functions:
        if not devices.get(f.pci, {}).get('handed_out'):
            continue
        use = f.elsewhere or use_of(net, f.name, layout.mode == 'exclusive' and not f.pf)
        if f.name in needed:
            harm.append(('a needed NIC handed out', '%s: %s' % (f.name, needed[f.name])))
        elif use:
            harm.append(('a NIC in use handed out', '%s: %s' % (f.name, use)))


def judge_free(layout, net, changes, devices, reasons):
    """Of each function that has nothing of the host: did it get what was asked?"""
    got, why_not, lines = False, [], []
    for f in layout.functions:
        if not f.is_ours or f.pf or f.elsewhere or use_of(net, f.name, False) or any(use_of(net, v.name, False) for v in f.vfs):
            continue
        mine = [a for a in changes if a['target'] == f.pci]
        if layout.wanted_vfs and len(f.vfs) == layout.wanted_vfs:
            continue  # there is nothing to do for it
        if layout.wanted_vfs:
            is_given = any(a['verb'] == 'set-num-vfs' and a['to'] == layout.wanted_vfs for a in mine)
        else:
            one = devices.get(f.pci, {})
            is_given = one.get('handed_out', False) or any(devices.get(v.pci, {}).get('handed_out') for v in f.vfs)
            is_given = is_given and layout.type != ''
        if layout.wanted_mtu and not f.vfs:  # it is never lowered while VFs exist
            is_given = is_given and any(a['verb'] == 'set-mtu' and a['to'] == layout.wanted_mtu for a in mine)
        codes = reasons.get(f.pci, [])
        lines.append('%s: %s' % (f.name, 'got what was asked' if is_given else
                                 'got nothing: ' + (' '.join(codes) or 'no reason')))
        got = got or is_given
        if not is_given:
            why_not.append(' '.join(codes) or 'no reason given')
    return got, why_not or ['no function is free'], lines


def judge(layout, program, run_batch):
    harm = []
    net = Net(layout)
    packets = packets_of(layout, net)
    for p in list(packets):
        packets += [from_source(p, source) for source in p.sources(net)]
        for source in layout.node_addresses if p.why in ('default', 'API server') else ():
            if (':' in source) == (':' in p.address) and not p.more and p.way(net):
                packets.append(from_source(p, source))
    packets = list({str(p): p for p in packets}.values())
    before = [(p, p.way(net)) for p in packets]
    needed = needed_of(layout, net, packets)
    document, changes = plan_of(program)
    status, devices = status_of(program)
    reasons = {}
    for r in status.get('reasons', []):
        reasons.setdefault(r['target'], []).append(r['code'])

    judge_targets(layout, net, needed, changes, harm)
    if not needed and not [p for p, way in before if way] and not layout.node_addresses:
        judge_unknown(layout, net, changes, harm)
    judge_handed_out(layout, net, needed, devices, harm)
    by_pci = {f.pci: f for f in layout.functions}
    carried = carry_out(changes, by_pci, run_batch, harm)
    more = [a for a in plan_of(program)[1] if a not in changes]  # of the round after it
    judge_targets(layout, net, needed, more, harm)
    carried += carry_out(more, by_pci, run_batch, harm)
    changes = changes + more
    lines = []
    for p, was in before:
        now = p.way(net) if carried else was
        lines.append('%s: %s%s' % (p, was, '' if now == was else '  AFTERWARDS %s' % (now,)))
        if was and (not now or now[0] != was[0]):
            harm.append(('a packet leaves by another device' if now else 'a packet has no way any more', lines[-1]))
        elif was and 'source' in p.more and now[1] != was[1]:
            harm.append(('a connection goes by another gateway', lines[-1]))
    got, why_not, free = judge_free(layout, net, changes, devices, reasons)
    return {'seed': layout.seed, 'commands': layout.commands, 'files': layout.files, 'config': layout.config,
            'functions': ['%s %s %s%s%s' % (f.pci, f.name, f.driver, ' VF of %s' % f.pf.name if f.pf else '',
                                            '  needed: ' + needed[f.name] if f.name in needed else '')
                          for f in layout.functions],
            'packets': lines, 'plan': plan_lines(document, status), 'carried': carried, 'free': free, 'harm': harm,
            'got': got, 'why_not': why_not, 'constructs': layout.constructs,
            'more': more_of(layout)}


def more_of(layout):
    return (['constructs: ' + ', '.join(sorted(layout.constructs)), 'cmdline: ' + layout.cmdline] +
            ['mount: ' + m for m in [layout.root] + layout.mounts] +
            ['%s is in the namespace %s: %s' % (name, where, '; '.join(c)) for name, where, c in layout.moved] +
            ['a socket listens on %s %s' % x for x in layout.listeners])


def plan_lines(document, status):
    lines = []
    for a in document.get('actions', []):
        text = ' '.join(str(a[k]) for k in ('target', 'verb', 'subject') if a.get(k) not in (None, ''))
        if a.get('to') not in (None, ''):
            text += ' %s-> %s' % (str(a['from']) + ' ' if 'from' in a else '', a['to'])
        if a.get('class', 'change') != 'change':
            text += ' [%s %s]' % (a['class'], a['code'])
        lines.append(text + (' (%s)' % a['detail'] if a.get('detail') else ''))
    lines.append('state %s' % status.get('state'))
    lines += ['%s %s: %s' % (r['code'], r['target'], r['detail']) for r in status.get('reasons', [])]
    handed = [d['pci'] for d in status.get('devices', []) for d in [d] + d.get('vfs', []) if d.get('handed_out')]
    lines.append('handed out: %s' % (' '.join(handed) or 'nothing'))
    return lines
