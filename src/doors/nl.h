/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nl: libnl, loaded at the first call of it (library.h). A gate, a status, or a look at the
 * kubelet's files asks the kernel nothing by netlink.
 *
 * In place of <netlink/...>; calls are written as ever. One that is not in a table is not linked:
 * add it to both lists, and to tests/check-symbols. Without the library the process ends with a
 * line in the log, as it would if the dynamic linker had missed it.
 */
#pragma once

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/handlers.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <netlink/version.h>

/* clang-format off */
#define NL_CALLS(X) \
	X(nl_recvmsgs_default) X(nl_send_auto) X(nl_socket_add_membership) X(nl_socket_alloc) \
	X(nl_socket_enable_msg_peek) X(nl_socket_free) X(nl_socket_get_fd) \
	X(nl_socket_modify_cb) X(nl_socket_set_buffer_size) X(nl_socket_set_fd) \
	X(nl_socket_set_msg_buf_size) X(nl_socket_set_nonblocking) X(nla_data) X(nla_find) \
	X(nla_get_s32) X(nla_get_string) X(nla_get_u16) X(nla_get_u32) X(nla_get_u64) \
	X(nla_get_u8) X(nla_len) X(nla_memcpy) X(nla_nest_end) X(nla_nest_start) X(nla_next) \
	X(nla_ok) X(nla_parse_nested) X(nla_put) X(nla_put_s32) X(nla_put_string) X(nla_put_u32) \
	X(nla_put_u8) X(nla_strcmp) X(nla_strlcpy) X(nla_type) X(nlmsg_alloc) \
	X(nlmsg_alloc_simple) X(nlmsg_append) X(nlmsg_data) X(nlmsg_free) X(nlmsg_get_src) \
	X(nlmsg_hdr) X(nlmsg_next) X(nlmsg_ok) X(nlmsg_parse) X(nlmsg_valid_hdr)

#define GENL_CALLS(X) \
	X(genlmsg_parse) X(genlmsg_put)
/* clang-format on */

#define MEMBER(name) __typeof__(&name) call_##name;
struct nl_calls {
	NL_CALLS(MEMBER)
};

struct genl_calls {
	GENL_CALLS(MEMBER)
};
#undef MEMBER

const struct nl_calls *nl_calls(void);
const struct genl_calls *genl_calls(void);

/* libnl 3.4 reads a policy, and does not say const. */
#if LIBNL_VER_NUM < LIBNL_VER(3, 6)
#define POLICY(p) ((struct nla_policy *)(p))
#else
#define POLICY(p) (p)
#endif

/* clang-format off */
#define nl_recvmsgs_default        (nl_calls()->call_nl_recvmsgs_default)
#define nl_send_auto               (nl_calls()->call_nl_send_auto)
#define nl_socket_add_membership   (nl_calls()->call_nl_socket_add_membership)
#define nl_socket_alloc            (nl_calls()->call_nl_socket_alloc)
#define nl_socket_enable_msg_peek  (nl_calls()->call_nl_socket_enable_msg_peek)
#define nl_socket_free             (nl_calls()->call_nl_socket_free)
#define nl_socket_get_fd           (nl_calls()->call_nl_socket_get_fd)
#define nl_socket_modify_cb        (nl_calls()->call_nl_socket_modify_cb)
#define nl_socket_set_buffer_size  (nl_calls()->call_nl_socket_set_buffer_size)
#define nl_socket_set_fd           (nl_calls()->call_nl_socket_set_fd)
#define nl_socket_set_msg_buf_size (nl_calls()->call_nl_socket_set_msg_buf_size)
#define nl_socket_set_nonblocking  (nl_calls()->call_nl_socket_set_nonblocking)
#define nla_data                   (nl_calls()->call_nla_data)
#define nla_find                   (nl_calls()->call_nla_find)
#define nla_get_s32                (nl_calls()->call_nla_get_s32)
#define nla_get_string             (nl_calls()->call_nla_get_string)
#define nla_get_u16                (nl_calls()->call_nla_get_u16)
#define nla_get_u32                (nl_calls()->call_nla_get_u32)
#define nla_get_u64                (nl_calls()->call_nla_get_u64)
#define nla_get_u8                 (nl_calls()->call_nla_get_u8)
#define nla_len                    (nl_calls()->call_nla_len)
#define nla_memcpy                 (nl_calls()->call_nla_memcpy)
#define nla_nest_end               (nl_calls()->call_nla_nest_end)
#define nla_nest_start             (nl_calls()->call_nla_nest_start)
#define nla_next                   (nl_calls()->call_nla_next)
#define nla_ok                     (nl_calls()->call_nla_ok)
#define nla_put                    (nl_calls()->call_nla_put)
#define nla_put_s32                (nl_calls()->call_nla_put_s32)
#define nla_put_string             (nl_calls()->call_nla_put_string)
#define nla_put_u32                (nl_calls()->call_nla_put_u32)
#define nla_put_u8                 (nl_calls()->call_nla_put_u8)
#define nla_strcmp                 (nl_calls()->call_nla_strcmp)
#define nla_strlcpy                (nl_calls()->call_nla_strlcpy)
#define nla_type                   (nl_calls()->call_nla_type)
#define nlmsg_alloc                (nl_calls()->call_nlmsg_alloc)
#define nlmsg_alloc_simple         (nl_calls()->call_nlmsg_alloc_simple)
#define nlmsg_append               (nl_calls()->call_nlmsg_append)
#define nlmsg_data                 (nl_calls()->call_nlmsg_data)
#define nlmsg_free                 (nl_calls()->call_nlmsg_free)
#define nlmsg_get_src              (nl_calls()->call_nlmsg_get_src)
#define nlmsg_hdr                  (nl_calls()->call_nlmsg_hdr)
#define nlmsg_next                 (nl_calls()->call_nlmsg_next)
#define nlmsg_ok                   (nl_calls()->call_nlmsg_ok)
#define nlmsg_valid_hdr            (nl_calls()->call_nlmsg_valid_hdr)
#define nla_parse_nested(tb, max, a, policy) (nl_calls()->call_nla_parse_nested(tb, max, a, POLICY(policy)))
#define nlmsg_parse(h, n, tb, max, policy) (nl_calls()->call_nlmsg_parse(h, n, tb, max, POLICY(policy)))
#define genlmsg_put (genl_calls()->call_genlmsg_put)
#define genlmsg_parse(h, n, tb, max, policy) (genl_calls()->call_genlmsg_parse(h, n, tb, max, POLICY(policy)))
/* clang-format on */
