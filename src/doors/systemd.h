/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Systemd: libsystemd, loaded at the first call of it (library.h). It brings more to link than all
 * other libraries together, and a gate, a look at another tree, or at a finished node without a
 * kubelet's unit, asks it nothing.
 *
 * In place of <systemd/sd-*.h>, or before them; calls are written as ever. One that is not in the
 * table is not linked: add it to both lists. Without the library the process ends with a line in
 * the log, as it would if the dynamic linker had missed it.
 */
#pragma once

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <systemd/sd-journal.h>

/* clang-format off */
#define SYSTEMD_CALLS(X) \
	X(bus_call) X(bus_call_method) X(bus_error_free) X(bus_error_has_name) \
	X(bus_flush_close_unref) X(bus_get_property_string) X(bus_get_property_trivial) \
	X(bus_match_signal) X(bus_message_append) X(bus_message_enter_container) \
	X(bus_message_exit_container) X(bus_message_new_method_call) X(bus_message_read) \
	X(bus_message_unref) X(bus_new) X(bus_open_system) X(bus_path_encode) X(bus_process) \
	X(bus_set_address) X(bus_start) X(bus_wait) X(event_add_child) X(event_add_io) \
	X(event_add_signal) X(event_add_time) X(event_exit) X(event_loop) X(event_new) \
	X(event_set_watchdog) X(event_source_get_enabled) X(event_source_set_enabled) \
	X(event_source_set_time) X(event_source_unref) X(event_unref) X(journal_send) X(notify) \
	X(notifyf)
/* clang-format on */

struct systemd {
#define MEMBER(name) __typeof__(&sd_##name) name;
	SYSTEMD_CALLS(MEMBER)
#undef MEMBER
};

const struct systemd *systemd_calls(void);

#define sd_bus_call                    (systemd_calls()->bus_call)
#define sd_bus_call_method             (systemd_calls()->bus_call_method)
#define sd_bus_error_free              (systemd_calls()->bus_error_free)
#define sd_bus_error_has_name          (systemd_calls()->bus_error_has_name)
#define sd_bus_flush_close_unref       (systemd_calls()->bus_flush_close_unref)
#define sd_bus_get_property_string     (systemd_calls()->bus_get_property_string)
#define sd_bus_get_property_trivial    (systemd_calls()->bus_get_property_trivial)
#define sd_bus_match_signal            (systemd_calls()->bus_match_signal)
#define sd_bus_message_append          (systemd_calls()->bus_message_append)
#define sd_bus_message_enter_container (systemd_calls()->bus_message_enter_container)
#define sd_bus_message_exit_container  (systemd_calls()->bus_message_exit_container)
#define sd_bus_message_new_method_call (systemd_calls()->bus_message_new_method_call)
#define sd_bus_message_read            (systemd_calls()->bus_message_read)
#define sd_bus_message_unref           (systemd_calls()->bus_message_unref)
#define sd_bus_new                     (systemd_calls()->bus_new)
#define sd_bus_open_system             (systemd_calls()->bus_open_system)
#define sd_bus_path_encode             (systemd_calls()->bus_path_encode)
#define sd_bus_process                 (systemd_calls()->bus_process)
#define sd_bus_set_address             (systemd_calls()->bus_set_address)
#define sd_bus_start                   (systemd_calls()->bus_start)
#define sd_bus_wait                    (systemd_calls()->bus_wait)
#define sd_event_add_child             (systemd_calls()->event_add_child)
#define sd_event_add_io                (systemd_calls()->event_add_io)
#define sd_event_add_signal            (systemd_calls()->event_add_signal)
#define sd_event_add_time              (systemd_calls()->event_add_time)
#define sd_event_exit                  (systemd_calls()->event_exit)
#define sd_event_loop                  (systemd_calls()->event_loop)
#define sd_event_new                   (systemd_calls()->event_new)
#define sd_event_set_watchdog          (systemd_calls()->event_set_watchdog)
#define sd_event_source_get_enabled    (systemd_calls()->event_source_get_enabled)
#define sd_event_source_set_enabled    (systemd_calls()->event_source_set_enabled)
#define sd_event_source_set_time       (systemd_calls()->event_source_set_time)
#define sd_event_source_unref          (systemd_calls()->event_source_unref)
#define sd_event_unref                 (systemd_calls()->event_unref)
#define sd_journal_send                (systemd_calls()->journal_send)
#define sd_notify                      (systemd_calls()->notify)
#define sd_notifyf                     (systemd_calls()->notifyf)
