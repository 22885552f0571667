#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The first process of a user-mode-linux kernel: layouts one after the other, each in namespaces and a root of its own.

node.py WORK NUMBER: WORK/task.json has the seeds and the program; a line for each layout goes to WORK/results-NUMBER.
"""
import ctypes
import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback

import judge
import question
from layout import DRIVERS, Layout

HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ('ipv6 veth dummy bonding team team_mode_activebackup team_mode_roundrobin 8021q bridge macvlan ipvlan macsec vrf '
           'ip_gre ip6_gre ipip sit vxlan geneve ipv6 gcm ctr ccm ghash-generic '
           'inet_diag tcp_diag udp_diag raw_diag af_packet_diag unix_diag netlink_diag').split()
CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID, CLONE_NEWNET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
libc = ctypes.CDLL(None, use_errno=True)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def mount(source, target, kind=None, flags=0):
    check(libc.mount(source.encode(), target.encode(), kind and kind.encode(), flags, None))


def unshare(flags):
    check(libc.unshare(flags))


def load_modules():
    folder = os.path.join('/usr/lib/uml/modules', os.uname().release)
    needs, paths = {}, {}
    with open(folder + '/modules.dep', encoding='ascii') as f:
        for line in f:
            path, _, rest = line.partition(':')
            paths[os.path.basename(path).removesuffix('.ko')] = path
            needs[path] = rest.split()

    def load(path):
        if path in loaded:
            return
        loaded.add(path)
        for needed in reversed(needs[path]):
            load(needed)
        with open(os.path.join(folder, path), 'rb') as f:
            libc.syscall(313, f.fileno(), b'', 0)  # finit_module

    loaded = set()
    for name in MODULES:
        if name in paths:
            load(paths[name])


# --- the root of a node --------------------------------------------------------------------------------------

class Root:
    def __init__(self, path):
        self.path = path

    def file(self, path, text):
        full = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, 'w', encoding='utf-8') as f:
            f.write(text)

    def link(self, path, target):
        """Both below the root; relative, as sysfs has them."""
        full = os.path.join(self.path, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        os.symlink(os.path.relpath(target, os.path.dirname(path)), full)

    def folder(self, path):
        os.makedirs(os.path.join(self.path, path), exist_ok=True)

    def bind(self, source, path, is_file=False):
        full = os.path.join(self.path, path.lstrip('/'))
        if is_file:
            os.makedirs(os.path.dirname(full), exist_ok=True)
            open(full, 'a', encoding='ascii').close()
        else:
            os.makedirs(full, exist_ok=True)
        mount(source, full, None, MS_BIND)


def folder_of(f):
    parent = f.pf or f
    port = 'sys/devices/pci0000:40/0000:40:%02x.0' % (parent.number % 32)
    return port + '/' + f.pci


def guid(mac):
    b = [int(x, 16) for x in mac.split(':')]
    return '%02x%02x:%02xff:fe%02x:%02x%02x' % (b[0] ^ 2, b[1], b[2], b[3], b[4], b[5])


def make_function(root, f, index, uverbs):
    folder = folder_of(f)
    vendor, device = DRIVERS.get(f.driver, ('8086', '1521'))
    root.link('sys/bus/pci/devices/' + f.pci, folder)
    root.file(folder + '/vendor', '0x%s\n' % vendor)
    root.file(folder + '/device', '0x%s\n' % device)
    root.file(folder + '/subsystem_vendor', '0x%s\n' % vendor)
    root.file(folder + '/subsystem_device', '0x0001\n')
    root.file(folder + '/class', '0x020000\n')
    root.file(folder + '/numa_node', '0\n')
    root.file(folder + '/driver_override', '(null)\n')
    root.file(folder + '/modalias', 'pci:v%08Xd%08Xsv%08Xsd00000001bc02sc00i00\n' % (
        int(vendor, 16), int(device, 16), int(vendor, 16)))
    root.link(folder + '/driver', 'sys/bus/pci/drivers/' + f.driver)
    root.link('sys/bus/pci/drivers/%s/module' % f.driver, 'sys/module/' + f.driver) if not os.path.lexists(
        os.path.join(root.path, 'sys/bus/pci/drivers/%s/module' % f.driver)) else None
    if f.total_vfs:
        root.file(folder + '/sriov_totalvfs', '%d\n' % f.total_vfs)
        root.file(folder + '/sriov_numvfs', '%d\n' % len(f.vfs))
        root.file(folder + '/sriov_drivers_autoprobe', '1\n')
        root.file(folder + '/sriov_offset', '2\n')
        root.file(folder + '/sriov_stride', '1\n')
    if f.pf:
        root.link(folder + '/physfn', folder_of(f.pf))
        root.link('%s/virtfn%d' % (folder_of(f.pf), f.index), folder)
    net = '%s/net/%s' % (folder, f.name)
    root.link('sys/class/net/' + f.name, net)
    root.link(net + '/device', folder)
    for name, text in (('ifindex', '%d' % index), ('address', f.mac), ('dev_port', '0'), ('type', '1'),
                       ('operstate', 'up'), ('phys_port_name', '' if f.pf else 'p0')):
        root.file('%s/%s' % (net, name), text + '\n')
    if not f.ibdev:
        return
    ib = '%s/infiniband/%s' % (folder, f.ibdev)
    root.link('sys/class/infiniband/' + f.ibdev, ib)
    root.link(ib + '/device', folder)
    root.file(ib + '/node_guid', guid(f.mac) + '\n')
    root.file(ib + '/node_type', '1: CA\n')
    root.file(ib + '/fw_ver', '28.39.1002\n')
    port = ib + '/ports/1'
    root.file(port + '/state', '4: ACTIVE\n')
    root.file(port + '/phys_state', '5: LinkUp\n')
    root.file(port + '/link_layer', 'Ethernet\n')
    root.file(port + '/rate', '100 Gb/sec (4X EDR)\n')
    root.folder(port + '/gids'), root.folder(port + '/gid_attrs/types'), root.folder(port + '/gid_attrs/ndevs')
    verbs = '%s/infiniband_verbs/uverbs%d' % (folder, uverbs)
    root.file(verbs + '/ibdev', f.ibdev + '\n')
    root.link('sys/class/infiniband_verbs/uverbs%d' % uverbs, verbs)
    root.link(verbs + '/device', folder)
    root.file('dev/infiniband/uverbs%d' % uverbs, '')
    mad = '%s/infiniband_mad/umad%d' % (folder, uverbs)
    root.file(mad + '/ibdev', f.ibdev + '\n')
    root.link('sys/class/infiniband_mad/umad%d' % uverbs, mad)
    root.link(mad + '/device', folder)
    root.file('dev/infiniband/umad%d' % uverbs, '')


def make_gids(root, layout, addresses):
    """The GID table of each device: those of its netdev's addresses."""
    for f in layout.functions:
        if not f.ibdev:
            continue
        port = '%s/infiniband/%s/ports/1' % (folder_of(f), f.ibdev)
        b = guid(f.mac)
        found = ['fe80:0000:0000:0000:' + b]
        for text in addresses.get(f.name, []):
            if ':' not in text:
                a = [int(x) for x in text.split('.')]
                found.append('0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x' % tuple(a))
            elif not text.startswith('fe80'):
                import ipaddress
                found.append(ipaddress.ip_address(text).exploded)
        for i, gid in enumerate(g for g in found for _ in (0, 1)):
            root.file('%s/gids/%d' % (port, i), gid + '\n')
            root.file('%s/gid_attrs/types/%d' % (port, i), ('IB/RoCE v1', 'RoCE v2')[i % 2] + '\n')
            root.file('%s/gid_attrs/ndevs/%d' % (port, i), f.name + '\n')


def make_root(layout, task):
    root = Root('/run/root')
    os.makedirs(root.path, exist_ok=True)
    mount('tmpfs', root.path, 'tmpfs')
    root.bind('/usr', '/usr')
    for name in ('bin', 'sbin', 'lib', 'lib64', 'lib32'):
        if os.path.islink('/' + name):
            os.symlink(os.readlink('/' + name), os.path.join(root.path, name))
        elif os.path.isdir('/' + name):
            root.bind('/' + name, name)
    for name in task['binds']:
        root.bind(name, name)
    for name in ('tmp', 'run/oracle', 'var/lib', 'etc', 'sys/kernel', 'sys/fs', 'dev/infiniband', 'proc', 'run/systemd/system'):
        root.folder(name)
    os.symlink('/run', os.path.join(root.path, 'var/run'))
    for name in ('null', 'zero', 'urandom', 'random'):
        full = os.path.join(root.path, 'dev', name)
        open(full, 'w', encoding='ascii').close()
        mount('/dev/' + name, full, None, MS_BIND)
    root.file('etc/machine-id', '%032x\n' % (layout.seed + 1))
    root.file('etc/os-release', 'ID=debian\nVERSION_ID="12"\n')
    root.file('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n')
    root.file('etc/group', 'root:x:0:\n')
    for name in ('ib_core', 'ib_uverbs', 'rdma_ucm', 'rdma_cm', 'ib_umad', 'mlx5_core', 'mlx5_ib', 'erdma', 'igb'):
        root.file('sys/module/%s/initstate' % name, 'live\n')
        root.file('sys/module/%s/refcnt' % name, '0\n')
        root.file('sys/module/%s/taint' % name, '\n')
        root.folder('sys/module/%s/holders' % name)
    root.file('dev/infiniband/rdma_cm', '')
    root.file('sys/devices/system/node/node0/cpulist', '0-31\n')
    root.file('sys/devices/system/cpu/online', '0-31\n')
    return root


def make_other_links(root, layout):
    ours = {f.name for f in layout.functions}
    for link in judge.ip_json('link'):
        name = link['ifname']
        if name not in ours:
            folder = 'sys/devices/virtual/net/' + name
            root.file(folder + '/ifindex', '%d\n' % link['ifindex'])
            root.file(folder + '/address', link.get('address', '') + '\n')
            root.link('sys/class/net/' + name, folder)


def family_option(command):
    """But for rules an address says which family is meant; without one "-6" has to, which is no word of a batch."""
    return '-6' if command.startswith('-6 ') and (':' not in command or ' rule ' in command) else '-0'


def run_batch(commands, prepare=None):
    """As few ip as can be, in this order; returns the commands that the kernel refused, with its words."""
    failed = []
    for option, group in itertools.groupby(commands, family_option):
        group = [c.removeprefix('-6 ') for c in group]
        done = subprocess.run(['ip', *([option] if option == '-6' else []), '-force', '-batch', '-'], stdout=subprocess.DEVNULL,
                              input=''.join(c + '\n' for c in group), stderr=subprocess.PIPE, text=True, check=False,
                              preexec_fn=prepare)
        words = []
        for line in done.stderr.splitlines():
            if line.startswith('Command failed -:'):
                failed.append((group[int(line.split(':')[1]) - 1], ' '.join(words) or 'failed'))
                words = []
            else:
                words.append(line)
    return failed


def build_links(layout, outside):
    ends = ['link add %s address %s type veth peer name %s netns %d' % (f.name, f.mac, f.name, outside) for f in layout.functions]
    for key in ('accept_dad', 'dad_transmits'):  # there is nobody who could have an address
        for where in ('all', 'default'):
            with open('/proc/sys/net/ipv6/conf/%s/%s' % (where, key), 'w', encoding='ascii') as f:
                f.write('0')
    failed = run_batch(ends)
    if failed:
        raise RuntimeError(failed)
    fd = os.open('/proc/%d/ns/net' % outside, os.O_RDONLY)
    run_batch(['link set %s up' % f.name for f in layout.functions], lambda: check(libc.setns(fd, CLONE_NEWNET)))
    os.close(fd)
    failed = run_batch(layout.commands[:layout.n_link_commands])
    settle()
    return failed + run_batch(layout.commands[layout.n_link_commands:])


def make_namespace(root, layout, name):
    """A named namespace, with the links that the layout moves there."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        libc.prctl(1, signal.SIGKILL)
        unshare(CLONE_NEWNET)
        os.write(write, b'x')
        signal.pause()
        os._exit(0)
    os.read(read, 1)
    root.bind('/proc/%d/ns/net' % pid, 'run/netns/' + name, True)
    fd = os.open('/proc/%d/ns/net' % pid, os.O_RDONLY)
    failed = []
    for netdev, where, commands in layout.moved:
        if where == name:
            failed += run_batch(['link set %s netns %d' % (netdev, pid)])
            failed += run_batch(commands, lambda: check(libc.setns(fd, CLONE_NEWNET)))
    os.close(fd)
    return failed


def listen(address, vrf):
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if vrf:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, vrf.encode() + b'\0')
    s.bind((address, 2049))
    s.listen()
    return s


def proc_files(root, layout):
    """What of /proc cannot be made by namespaces: the command line and the mounts of the processes that ask."""
    root.file('run/oracle/cmdline', layout.cmdline + '\n')
    mount(root.path + '/run/oracle/cmdline', root.path + '/proc/cmdline', None, MS_BIND)
    lines = [layout.root] + layout.mounts
    root.file('run/oracle/mountinfo', ''.join(m + '\n' for m in lines))
    root.file('run/oracle/mounts', ''.join('%s %s %s rw 0 0\n' % (m.split(' - ')[1].split()[1], m.split()[4],
                                                              m.split(' - ')[1].split()[0]) for m in lines))
    for name in ('mountinfo', 'mounts'):
        mount('%s/run/oracle/%s' % (root.path, name), '%s/proc/1/%s' % (root.path, name), None, MS_BIND)


class Program:
    def __init__(self, root, layout, task):
        self.root, self.layout, self.task = root, layout, task

    def run(self, *words):
        def enter():
            os.chroot(self.root.path)
            os.chdir('/')
            for name in ('mountinfo', 'mounts'):
                mount('/run/oracle/' + name, '/proc/%d/%s' % (os.getpid(), name), None, MS_BIND)

        environment = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C', 'LD_PRELOAD': self.task['preload']}
        done = subprocess.run([self.task['binary'], *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=environment, preexec_fn=enter, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr


def settle():
    """Until the kernel has noticed each carrier: up to a second."""
    for _ in range(100):
        if not question.links_unsettled():
            return
        time.sleep(0.05)


def one_layout(seed, task):
    """Runs as PID 1 of its namespaces."""
    layout = Layout(seed)
    outside = os.fork()
    if outside == 0:
        libc.prctl(1, signal.SIGKILL)
        os.write(task['ready'], b'x')
        signal.pause()
        os._exit(0)
    os.read(task['wait'], 1)
    unshare(CLONE_NEWNET)
    check(libc.sethostname(b'node-%d' % seed, len('node-%d' % seed)))
    root = make_root(layout, task)
    mount('proc', root.path + '/proc', 'proc')
    mount('proc', '/proc', 'proc')
    run_batch(['link set lo up'])
    refused = build_links(layout, outside)
    for name in layout.namespaces:
        refused += make_namespace(root, layout, name)
    settle()
    links = judge.ip_json('link')
    index = {l['ifname']: l['ifindex'] for l in links}
    for i, f in enumerate(layout.functions):
        make_function(root, f, index[f.name], i)
    make_other_links(root, layout)
    make_gids(root, layout, {a['ifname']: [i['local'] for i in a['addr_info']] for a in judge.ip_json('addr')})
    root.file('run/oracle/functions', ''.join('%s %s\n' % (f.name, f.mac) for f in layout.functions))
    root.file('run/oracle/rdma', ''.join('%d %s %s\n' % (i, f.ibdev, f.name)
                                         for i, f in enumerate(layout.functions) if f.ibdev))
    for path, text in layout.files.items():
        root.file(path, text)
    for path, target in layout.links.items():
        root.link(path, target)
    for name in os.listdir(root.path + '/opt/bin'):
        os.chmod(root.path + '/opt/bin/' + name, 0o755)
    listeners = [listen(*x) for x in layout.listeners]
    config = layout.config
    if layout.preset:
        with open(os.path.join(task['presets'], layout.preset + '.conf'), encoding='utf-8') as f:
            config = f.read()
        config += '\n[Device]\nExpect=0\n'
    root.file('etc/rdma-provision.test.conf', config)
    layout.config = config
    proc_files(root, layout)
    program = Program(root, layout, task)
    result = judge.judge(layout, program, run_batch)
    result['refused'] = refused
    del listeners
    return result


def in_namespaces(seed, task):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | CLONE_NEWNET)
            mount('none', '/', None, MS_REC | MS_PRIVATE)
            first = os.fork()
            if first == 0:
                try:
                    wait, ready = os.pipe()
                    result = one_layout(seed, dict(task, ready=ready, wait=wait))
                except BaseException:
                    result = {'seed': seed, 'error': traceback.format_exc()}
                with os.fdopen(write, 'w') as f:
                    json.dump(result, f)
                os._exit(0)
            os.close(write)
            os.waitpid(first, 0)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    os.waitpid(pid, 0)
    return text or json.dumps({'seed': seed, 'error': 'ended without an answer'})


AT_ONCE = 3  # layouts in one kernel: much of a layout is waiting for carriers


def side_by_side(task, number, path):
    pids = []
    out = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC)
    for worker in range(AT_ONCE):
        pid = os.fork()
        if pid == 0:
            try:
                for seed in task['seeds'][number::task['jobs']][worker::AT_ONCE]:
                    os.write(out, in_namespaces(seed, task).encode() + b'\n')
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)


def main():
    work, number = sys.argv[1], int(sys.argv[2])
    os.environ['PATH'] = '/usr/sbin:/usr/bin:/sbin:/bin'
    mount('proc', '/proc', 'proc')
    log = os.open('%s/log-%d' % (work, number), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        mount('tmpfs', '/run', 'tmpfs')
        mount('tmpfs', '/sys', 'tmpfs')
        load_modules()
        # No router answers: after three seconds the kernel sends the packets of one of IPv6 to another one.
        with open('/proc/sys/net/ipv6/neigh/default/retrans_time_ms', 'w', encoding='ascii') as f:
            f.write('3600000')
        with open(work + '/task.json', encoding='utf-8') as f:
            task = json.load(f)
        side_by_side(task, number, '%s/results-%d' % (work, number))
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    with open('/proc/sysrq-trigger', 'w', encoding='ascii') as f:
        f.write('o')
    time.sleep(30)


if __name__ == '__main__':
    main()
