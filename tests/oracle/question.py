# SPDX-License-Identifier: Apache-2.0
"""rtnetlink, without a process for each question: "ip route get [fibmatch] ADDRESS [from SOURCE] [oif DEV] [mark N]"."""
import ipaddress
import socket
import struct

RTM_GETROUTE, RTM_NEWROUTE, NLMSG_ERROR, NLM_F_REQUEST = 26, 24, 2, 1
RTM_F_LOOKUP_TABLE, RTM_F_FIB_MATCH = 0x1000, 0x2000
RTN_UNICAST = 1
DST, SRC, OIF, GATEWAY, PREFSRC, MULTIPATH, MARK, VIA, NH_ID = 1, 2, 4, 5, 7, 9, 16, 18, 30


def attributes(data):
    at = 0
    while at + 4 <= len(data):
        length, kind = struct.unpack_from('HH', data, at)
        if length < 4:
            return
        yield kind & 0x3fff, data[at + 4:at + length]
        at += (length + 3) & ~3


def put(kind, value):
    return struct.pack('HH', 4 + len(value), kind) + value + b'\0' * (-len(value) % 4)


def gateway_of(found):
    if GATEWAY in found:
        return str(ipaddress.ip_address(found[GATEWAY]))
    return str(ipaddress.ip_address(found[VIA][2:])) if VIA in found else ''


def name_of(index):
    try:
        return socket.if_indextoname(index)
    except OSError:
        return '?%d' % index


def hops_of(data):
    at = 0
    while at + 8 <= len(data):
        length, _, _, index = struct.unpack_from('HBBi', data, at)
        yield name_of(index), gateway_of(dict(attributes(data[at + 8:at + length])))
        at += (length + 3) & ~3


def ask(address, source=None, oif=None, mark=None, fibmatch=False):
    """{dev, protocol, gateway, prefsrc, hops, nhid} of an answer that leaves the host, or None."""
    to = ipaddress.ip_address(address)
    family, bits = (socket.AF_INET, 32) if to.version == 4 else (socket.AF_INET6, 128)
    source = source and ipaddress.ip_address(source).packed
    body = struct.pack('BBBBBBBBI', family, bits, bits if source else 0, 0, 0, 0, 0, 0,
                       RTM_F_LOOKUP_TABLE | (RTM_F_FIB_MATCH if fibmatch else 0)) + put(DST, to.packed)
    if source:
        body += put(SRC, source)
    if oif:
        body += put(OIF, struct.pack('i', socket.if_nametoindex(oif)))
    if mark:
        body += put(MARK, struct.pack('I', mark))
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.bind((0, 0))
        s.send(struct.pack('IHHII', 16 + len(body), RTM_GETROUTE, NLM_F_REQUEST, 1, 0) + body)
        data = s.recv(65536)
    length, kind = struct.unpack_from('IH', data)
    if kind == NLMSG_ERROR:
        return None
    if kind != RTM_NEWROUTE:
        raise OSError('an answer of type %d' % kind)
    if data[16 + 7] != RTN_UNICAST:
        return None
    found = dict(attributes(data[28:length]))
    number = struct.unpack('I', found[NH_ID])[0] if NH_ID in found else None
    dev = name_of(struct.unpack('i', found[OIF])[0]) if OIF in found else None
    if dev == 'lo':
        return None
    return {'dev': dev, 'protocol': data[16 + 5], 'gateway': gateway_of(found), 'nhid': number,
            'hops': list(hops_of(found.get(MULTIPATH, b''))),
            'prefsrc': str(ipaddress.ip_address(found[PREFSRC])) if PREFSRC in found else None}


RTM_GETLINK, RTM_NEWLINK, NLMSG_DONE, NLM_F_DUMP = 18, 16, 3, 0x300
IFF_UP, IFF_LOWER_UP, OPERSTATE = 1, 0x10000, 16
OPER_DOWN = (2, 3, 5)  # down, a lower layer is down, dormant


def links_unsettled():
    """Is a link up with a carrier that the kernel has yet to notice?"""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as s:
        s.bind((0, 0))
        s.send(struct.pack('IHHII', 32, RTM_GETLINK, NLM_F_REQUEST | NLM_F_DUMP, 1, 0) + bytes(16))
        found = False
        while True:
            data, at = s.recv(262144), 0
            while at + 16 <= len(data):
                length, kind = struct.unpack_from('IH', data, at)
                if kind != RTM_NEWLINK:
                    return found
                flags = struct.unpack_from('I', data, at + 16 + 8)[0]
                state = dict(attributes(data[at + 32:at + length])).get(OPERSTATE, b'\0')[0]
                found = found or (flags & IFF_UP and flags & IFF_LOWER_UP and state in OPER_DOWN)
                at += (length + 3) & ~3
