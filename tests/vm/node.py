#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""One test node: boots a disk in QEMU and runs scenarios in it. Started by "run", which has the manual.

Two conversations: QMP with QEMU, and a line protocol with guest/usr/lib/test-node/runner over a
virtio-serial port. Both are socket pairs, so nothing is left in the file system. A reboot, a crash and
the first boot are the same thing here: a new QEMU on the same disk with the same cards in it.
"""
import ctypes
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

START = float(os.environ.get("VM_START", time.time()))
BOOT_SECONDS = 600     # power on to the runner's hello: 25 on an idle host, 170 on one with 14 times the work it can do
BOOT_PROCESSOR_SECONDS = 15  # of processors, for a boot on the machine that the scenarios' limits were made on
SHUTDOWN_SECONDS = 150 # systemd gives a stopping service 90
SLOTS = {              # slot: NUMA node, physical slot number, last byte of the MAC, in the node from the start
    "pf0": (0, 1, 0x10, True), "0a": (0, 2, 0x20, False), "0b": (0, 3, 0x30, False),
    "pf1": (1, 11, 0x40, True), "1a": (1, 12, 0x50, False), "1b": (1, 13, 0x60, False),
}
PEER_MAC = 0x90        # last byte of the MAC of the other node's pf0
CARDS = {slot: mac for slot, (_, _, mac, is_there) in SLOTS.items() if is_there}
ERDMA = {              # number: NUMA node, physical slot number of the ENI, last digits of its MAC
    n: (n % 2, 31 + n, 21 + n) for n in range(4)
}
ERDMA_CMDLINE = "memmap=128M$0x50000000 modules-load=soft_erdma soft_erdma.cards=0-%d"
N_CPUS = 2
KERNEL_TROUBLE = re.compile(r"WARNING: |\bBUG: |kernel BUG at|\bOops\b|general protection fault|"
                            r"Kernel panic|blocked for more than")
LOST_INTERRUPT = re.compile(r"NETDEV WATCHDOG: .* timed out|"
                            r"task (kworker\S*|\(udev-worker\)|systemd-journal\S*):\d+ blocked for more than")
# Not what runs in the node: in some hundred boots on a busy host, before QEMU ran in one thread, an interrupt was lost
# twice, and what was on one or all of the processors waited for ever three times.
EMULATOR = "the emulator failed, not the node: "
LOOK_SECONDS = 30      # how often the processors are woken, and the kernel's log and the last line looked at
FROZEN_SECONDS = 150   # without a line of a processor that says every 10 s that it is alive
KERNEL_EXPECTED = re.compile(r"topology_sane")
CMDLINE = ("console=ttyS0 loglevel=5 root=/dev/vda rw mitigations=off nokaslr no_timer_check nowatchdog "
           "rcupdate.rcu_cpu_stall_suppress=1 random.trust_cpu=on apparmor=0 audit=0 panic=-1 "
           "selinux=0 fsck.mode=skip systemd.show_status=no "
           # A VF and its PF speak through one buffer. On two slow processors igbvf and igb cross there at times, and the
           # VF has no PF for good ("PF still resetting"). On one, the PF's interrupt is served before the VF goes on.
           "isolcpus=1 irqaffinity=0")


def say(text):
    print("[%4ds] %s" % (time.time() - START, text), flush=True)


class Dead(Exception):
    """The node is gone or gives no answer."""


class Lines:
    """A socket read by lines, with a deadline."""

    def __init__(self, sock):
        self.sock, self.buf = sock, b""

    def read(self, deadline):
        while b"\n" not in self.buf:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.sock], [], [], left)[0]:
                raise Dead("no answer in time")
            try:
                more = self.sock.recv(65536)
            except ConnectionError:
                more = b""
            if not more:
                raise EOFError
            self.buf += more
        line, self.buf = self.buf.split(b"\n", 1)
        return line.decode(errors="replace").rstrip("\r")

    def write(self, text):
        self.sock.sendall(text.encode() + b"\n")


class Qemu:
    """A running QEMU."""

    def __init__(self, image, disk, share, serial, cards, n_erdma, wire=None, cmdline="", has_router=False):
        """wire: a socket to another node, for slot pf0; belongs to this QEMU from now on. has_router: on pf0's network."""
        guest, guest_far = socket.socketpair()
        qmp, qmp_far = socket.socketpair()
        args = [
            "qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", "q35,usb=off,sata=off,smbus=off,vmport=off",
            # In one thread: in several QEMU loses an interrupt now and then, halts a processor that has work, or
            # fails an assertion when VFs come and go, and a node that waits most of the time is no faster with them.
            "-accel", "tcg,thread=single,tb-size=512", "-cpu", os.environ.get("VM_CPU", "max,la57=off,svm=off,erms=off,fsrm=off"),
            "-smp", "%d,sockets=%d" % (N_CPUS, N_CPUS), "-m", "1536M",
            "-object", "memory-backend-ram,id=m0,size=768M", "-numa", "node,nodeid=0,cpus=0,memdev=m0",
            "-object", "memory-backend-ram,id=m1,size=768M", "-numa", "node,nodeid=1,cpus=1,memdev=m1",
            "-device", "intel-iommu,intremap=off",  # vfio-pci wants one
            "-kernel", image + "/vmlinuz", "-initrd", image + "/initrd",
            "-append", " ".join((CMDLINE, os.environ.get("VM_CMDLINE", ""), cmdline,
                                 ERDMA_CMDLINE % (n_erdma - 1) if n_erdma else "")),
            "-chardev", "file,id=serial,append=on,path=" + serial, "-serial", "chardev:serial",
            "-fsdev", "local,id=share,security_model=none,path=" + share,
            "-device", "virtio-9p-pci,bus=pcie.0,fsdev=share,mount_tag=host",
            "-device", "virtio-serial-pci,bus=pcie.0",
            "-chardev", "socket,id=guest,fd=%d" % guest_far.fileno(),
            "-device", "virtserialport,chardev=guest,name=host",
            "-chardev", "socket,id=qmp,fd=%d" % qmp_far.fileno(), "-mon", "chardev=qmp,mode=control",
            "-device", "pxb-pcie,id=numa0,bus=pcie.0,bus_nr=64,numa_node=0",
            "-device", "pxb-pcie,id=numa1,bus=pcie.0,bus_nr=128,numa_node=1",
            # unsafe: the host's page cache outlives QEMU, so what the guest synced survives a killed
            # QEMU; what it did not write yet is lost with its memory. The disk is raw for that reason.
            "-drive", "if=none,id=disk,format=raw,cache=unsafe,aio=threads,file=" + disk,
            "-device", "virtio-blk-pci,bus=pcie.0,drive=disk",
        ]
        for slot, (numa, number, mac, _) in SLOTS.items():
            # An empty port reserves what an igb and its VFs need.
            args += ["-device", "pcie-root-port,id=port-%s,bus=numa%d,chassis=%d,slot=%d,"
                     "mem-reserve=4M,pref64-reserve=4M" % (slot, numa, number, number)]
        for slot, mac in sorted(cards.items()):
            # no traffic leaves the node: the backend is there to give the card a link
            backend = "user,id=net-%s,restrict=on,ipv6=off" % slot
            if wire and slot == "pf0":
                backend = "socket,id=net-%s,fd=%d" % (slot, wire.fileno())
            elif has_router and slot == "pf0":
                backend = "user,id=net-pf0,restrict=on,ipv6-prefix=2001:db8:7::"
            args += ["-netdev", backend, "-device", ",".join("%s=%s" % item for item in self.card(slot, mac).items())]

        for n in range(n_erdma):
            # The functions themselves are models: see tests/hardware. They know their ENIs by the MAC.
            numa, number, mac = ERDMA[n]
            args += ["-device", "pcie-root-port,id=port-%d,bus=numa%d,chassis=%d,slot=%d" % (number, numa, number, number),
                     "-netdev", "user,id=net-%d,restrict=on,ipv6=off" % number, "-device",
                     "virtio-net-pci,bus=port-%d,netdev=net-%d,romfile=,mac=52:54:00:00:02:%02d" % (number, number, mac)]

        def die_with_us():
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG

        given = [guest_far, qmp_far] + ([wire] if wire else [])
        self.process = subprocess.Popen(args, pass_fds=[s.fileno() for s in given],
                                        stdin=subprocess.DEVNULL, preexec_fn=die_with_us)
        for s in given:
            s.close()
        self.guest, self.qmp = Lines(guest), Lines(qmp)
        self.gone = set()  # ids of cards that left, said in between other answers
        try:
            self.qmp.read(time.monotonic() + 30)
        except EOFError:
            raise Dead("QEMU does not start")
        self.command("qmp_capabilities")

    @staticmethod
    def card(slot, mac):
        return {"driver": "igb", "id": "card-" + slot, "bus": "port-" + slot, "netdev": "net-" + slot,
                "mac": "52:54:00:00:00:%02x" % mac}

    def command(self, name, /, **arguments):
        self.qmp.write(json.dumps({"execute": name, "arguments": arguments}))
        while True:
            message = json.loads(self.qmp.read(time.monotonic() + 60))
            self.note(message)
            if "error" in message:
                raise ValueError(message["error"]["desc"])
            if "return" in message:
                return message["return"]

    def note(self, message):
        if message.get("event") == "DEVICE_DELETED" and "device" in message["data"]:
            self.gone.add(message["data"]["device"])

    def wait_gone(self, device, seconds):
        deadline = time.monotonic() + seconds
        while device not in self.gone:
            self.note(json.loads(self.qmp.read(deadline)))
        self.gone.discard(device)

    def wake(self):
        """A processor that is halted sometimes misses that there is work for it, and what is on it waits for ever: seen
        in one of some hundred boots, on a host with more to do than it can. To stop and go on makes each look again."""
        self.command("stop")
        self.command("cont")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def processor_seconds(self):
        try:
            with open("/proc/%d/stat" % self.process.pid) as f:
                fields = f.read().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0  # it ended by itself, and was waited for
        return sum(int(ticks) for ticks in fields[11:13]) / os.sysconf("SC_CLK_TCK")


class Node:
    """A disk, what is plugged in, and the QEMU that runs on it, if any."""

    def __init__(self, image, disk, out, n_erdma, has_peer, cmdline, has_router):
        self.image, self.disk, self.out, self.n_erdma = image, disk, out, n_erdma
        self.cmdline, self.has_router = cmdline, has_router
        self.has_peer, self.peer = has_peer, None
        self.processor_seconds = 0  # of those that ended
        self.slowness = 100  # per cent of the time a boot takes on the machine that the limits were made on
        self.heard = {}  # the time of the last line of each processor
        self.serial = out + "/serial.log"
        self.serial_seen = 0
        self.cards = dict(CARDS)
        self.qemu = None
        open(self.serial, "w").close()

    def boot(self):
        begin = time.time()
        self.start()
        try:
            hello = self.answer("hello", BOOT_SECONDS, on_look=self.wake)
        except Dead as e:
            raise Dead("does not boot: %s" % e)
        took = self.qemu.processor_seconds()
        self.slowness = min(max(100, int(100 * took / BOOT_PROCESSOR_SECONDS)), 500)
        say("node up after %.0f s (%s s of its own clock), %.0f s of processors: limits are %d %%" %
            (time.time() - begin, hello, took, self.slowness))

    def start(self):
        wire = None
        if self.has_peer:
            # A copy of the disk as it is before the first boot, on the other end of the wire of pf0.
            share = self.out + "/peer"
            if not os.path.exists(self.disk + ".peer"):
                subprocess.run(["cp", "--sparse=always", self.disk, self.disk + ".peer"], check=True)
                os.makedirs(share, exist_ok=True)
            wire, far = socket.socketpair()
            self.peer = Qemu(self.image, self.disk + ".peer", share, self.out + "/peer-serial.log",
                             {"pf0": PEER_MAC}, 0, far, "test-node.peer")
        self.qemu = Qemu(self.image, self.disk, self.out, self.serial, self.cards, self.n_erdma, wire,
                         self.cmdline, self.has_router)

    def answer(self, *verbs, seconds=None, on_line=None, on_look=None):
        """The next request of the guest that is one of verbs; other lines go to on_line."""
        if isinstance(verbs[-1], (int, float)):
            verbs, seconds = verbs[:-1], verbs[-1]
        begin = time.monotonic()
        self.heard = dict.fromkeys(range(N_CPUS), begin)
        deadline = begin + seconds
        look = begin + LOOK_SECONDS if on_look else deadline
        while True:
            try:
                line = self.qemu.guest.read(min(look, deadline))
            except Dead:
                if time.monotonic() >= deadline:
                    raise
                line = None
            except EOFError:
                self.ended()
            if on_look and time.monotonic() >= look:
                on_look()
                look = time.monotonic() + LOOK_SECONDS
            if line is None:
                continue
            if line.startswith("@@alive "):
                self.heard[int(line.split()[1])] = time.monotonic()
                continue
            if line.startswith("@@"):
                verb, _, rest = line[2:].partition(" ")
                if verb in verbs:
                    return rest if len(verbs) == 1 else (verb, rest)
                line = "unexpected: " + line
            if on_line:
                on_line(line)

    def wake(self):
        for qemu in self.qemu, self.peer:
            try:
                if qemu:
                    qemu.wake()
            except (OSError, EOFError):
                pass  # it ended, which is seen where its lines are read

    def frozen(self):
        """The number of a processor that was silent for long, and waits for an interrupt; or None."""
        silent = [cpu for cpu, heard in self.heard.items() if time.monotonic() - heard >= FROZEN_SECONDS]
        if not silent:
            return None
        registers = self.monitor("info registers -a")
        with open(self.out + "/registers.txt", "w") as f:
            f.write(registers)
            for cpu in silent:
                f.write("\nCPU#%d\n%s" % (cpu, self.monitor("info lapic %d" % cpu)))
        for cpu, text in re.findall(r"^CPU#(\d+)(.*?)(?=^CPU#|\Z)", registers, re.M | re.S):
            if int(cpu) in silent and "HLT=1" in text:
                return int(cpu)
        return None

    def monitor(self, line):
        return self.qemu.command("human-monitor-command", **{"command-line": line})

    def tell(self, text):
        try:
            self.qemu.guest.write(text)
        except OSError:
            self.ended()

    def ended(self):
        status = self.qemu.process.wait()
        if status == -signal.SIGABRT:
            raise Dead(EMULATOR + "QEMU failed an assertion of its own")
        raise Dead("QEMU ended, exit status %s" % status)

    def off(self):
        for qemu in self.qemu, self.peer:
            if qemu:
                self.processor_seconds += qemu.processor_seconds()
                qemu.kill()
        self.qemu = self.peer = None

    def reboot(self):
        self.tell("reboot")
        deadline = time.monotonic() + SHUTDOWN_SECONDS
        try:
            while True:
                self.qemu.guest.read(deadline)
        except EOFError:
            self.off()
        except Dead:
            raise Dead("does not shut down within %d s" % SHUTDOWN_SECONDS)

    def hotplug(self, what, slot, mac=None):
        if slot not in SLOTS or (what == "add") == (slot in self.cards):
            return "slot %s is unknown, taken or empty" % slot
        try:
            if what == "add":
                self.qemu.command("netdev_add", type="user", id="net-" + slot, restrict=True, ipv6=False)
                byte = int(mac, 16) if mac else SLOTS[slot][2]
                self.qemu.command("device_add", **Qemu.card(slot, byte))
                self.cards[slot] = byte
            else:
                self.qemu.command("device_del", id="card-" + slot)
                self.qemu.wait_gone("card-" + slot, 90)
                self.qemu.command("netdev_del", id="net-" + slot)
                del self.cards[slot]
        except (ValueError, Dead) as e:
            return str(e)
        return "ok"

    def set_link(self, slot, state):
        if slot not in self.cards or state not in ("up", "down"):
            return "slot %s is empty, or %s is no state of a link" % (slot, state)
        try:
            self.qemu.command("set_link", name="card-" + slot, up=state == "up")
        except (ValueError, Dead) as e:
            return str(e)
        return "ok"

    def kernel_log(self, keep=False):
        """What the serial console got since the last call that did not keep it."""
        with open(self.serial, errors="replace") as f:
            f.seek(self.serial_seen)
            text = f.read()
            if not keep:
                self.serial_seen = f.tell()
        return text.splitlines()


class Scenario:
    def __init__(self, path):
        self.name = os.path.basename(path)
        self.n_passed = self.n_failed = self.n_emulator = 0
        self.allowed = []
        text = open(path).read()
        self.timeout = int(self.declared(text, "timeout", "300")) * (25 if os.environ.get("VM_LONG") else 1)
        self.start = self.declared(text, "start", "late")
        self.n_erdma = int(self.declared(text, "erdma", "0"))
        self.has_peer = self.declared(text, "peer", "no") == "yes"
        self.has_router = self.declared(text, "router", "no") == "yes"
        self.cmdline = self.declared(text, "cmdline", "")

    @staticmethod
    def declared(text, key, default):
        m = re.search(r"^# %s: (\S+)" % key, text, re.M)
        return m.group(1) if m else default

    def line(self, text):
        if text.startswith("ok - "):
            self.n_passed += 1
        elif text.startswith("FAILED - "):
            self.n_failed += 1
        say("%s: %s" % (self.name, text))

    def fail(self, text):
        self.line("FAILED - " + text)

    def run(self, node):
        begin, phase = time.time(), 1
        say("%s: begins" % self.name)
        try:
            while self.run_phase(node, phase):
                phase += 1
        except Dead as e:
            self.fail("the node in phase %d: %s" % (phase, e))
            self.n_emulator = int(EMULATOR in str(e))
            node.off()
        self.judge_kernel(node)
        if self.n_passed + self.n_failed == 0:
            self.fail("it checked nothing")
        if node.qemu and (self.n_failed or os.environ.get("VM_KEEP")):
            try:
                node.tell("collect " + self.name)
                node.answer("collected", 120)
            except Dead as e:
                say("%s: the state of the node cannot be had: %s" % (self.name, e))
                node.off()
        say("%s: %d passed, %d failed in %.0f s" % (self.name, self.n_passed, self.n_failed,
                                                  time.time() - begin))

    def run_phase(self, node, phase):
        """True if there may be another phase."""
        if not node.qemu:
            node.boot()
        timeout = self.timeout * node.slowness // 100
        node.tell("run %s %d %d %s %d" % (self.name, phase, timeout, self.start, node.slowness))
        # The guest ends a phase that takes too long. Should it not manage to, its kernel is stuck.
        deadline = time.monotonic() + 2 * timeout + 90
        while True:
            verb, rest = node.answer("done", "crash", "hotplug", "set-link", "allow",
                                     seconds=deadline - time.monotonic(), on_line=self.line,
                                     on_look=lambda: self.look_after(node))
            if verb == "hotplug":
                node.tell(node.hotplug(*rest.split()))
            elif verb == "set-link":
                node.tell(node.set_link(*rest.split()))
            elif verb == "allow":
                self.allowed.append(re.compile(rest))
                node.tell("ok")
            elif verb == "crash":
                say("%s: phase %d ends in a crash" % (self.name, phase))
                node.off()
                return True
            elif rest == "0":
                return True
            elif rest == "10":
                say("%s: phase %d ends in a reboot" % (self.name, phase))
                node.reboot()
                return True
            elif rest == "9" and phase > 1:
                return False
            else:
                self.fail("phase %d: %s" % (phase, {
                    "9": "there is none", "124": "not finished within %d s" % timeout,
                    "137": "not finished within %d s, killed" % timeout,
                }.get(rest, "ended early, exit status " + rest)))
                return False

    def look_after(self, node):
        node.wake()
        for text in node.kernel_log(keep=True):
            if LOST_INTERRUPT.search(text) and not any(regex.search(text) for regex in self.allowed):
                raise Dead(EMULATOR + "it lost an interrupt: " + text)
        cpu = node.frozen()
        if cpu is not None:
            raise Dead(EMULATOR + "processor %d has not said for %d s that it is alive, and is halted" %
                       (cpu, FROZEN_SECONDS))

    def judge_kernel(self, node):
        for text in node.kernel_log():
            if KERNEL_TROUBLE.search(text) and not KERNEL_EXPECTED.search(text) and \
                    not any(regex.search(text) for regex in self.allowed):
                self.fail("the kernel says: " + text)


def main():
    """node.py IMAGE OUT TOTALS DISK SCENARIO..."""
    image, out, totals, disk = sys.argv[1:5]
    scenarios = [Scenario(path) for path in sys.argv[5:]]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    node = Node(image, disk, out, max(scenario.n_erdma for scenario in scenarios),
                any(scenario.has_peer for scenario in scenarios),
                " ".join(scenario.cmdline for scenario in scenarios),
                any(scenario.has_router for scenario in scenarios))
    try:
        for scenario in scenarios:
            scenario.run(node)
            with open(totals, "a") as f:
                print(scenario.name, scenario.n_passed, scenario.n_failed - scenario.n_emulator, file=f)
                if scenario.n_emulator:
                    print("emulator", 0, 1, file=f) # a row of tests/quarantine
    finally:
        node.off()
        say("%.0f s of processors" % node.processor_seconds)


main()
