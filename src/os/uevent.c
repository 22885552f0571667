/* SPDX-License-Identifier: Apache-2.0 */
#include "uevent.h"

#include <libudev.h>

#define BUFFER_BYTES (8 * 1024 * 1024) /* a node's worth of VFs that appear at once */

static const char *const subsystems[] = {
	"pci", "net", "infiniband", "infiniband_verbs", "infiniband_mad", "module",
};

static int start(struct udev_monitor *monitor)
{
	int r;

	for (size_t i = 0; i < ELEMENTSOF(subsystems); i++) {
		r = udev_monitor_filter_add_match_subsystem_devtype(monitor, subsystems[i], NULL);
		if (r < 0)
			return r;
	}

	/* Without CAP_NET_ADMIN it stays as it is: events that do not fit are reported as lost. */
	(void)udev_monitor_set_receive_buffer_size(monitor, BUFFER_BYTES);
	return udev_monitor_enable_receiving(monitor);
}

int uevents_open(struct uevents *u)
{
	_cleanup_(uevents_done) struct uevents new = { .context = udev_new() };

	errno = ENOMEM;
	if (new.context)
		new.monitor = udev_monitor_new_from_netlink(new.context, "udev");
	if (!new.monitor)
		return -errno;
	return GIVE(start(new.monitor), new, u);
}

void uevents_done(struct uevents *u)
{
	udev_monitor_unref(u->monitor);
	udev_unref(u->context);
	*u = (struct uevents){};
}

int uevents_fd(const struct uevents *u)
{
	return udev_monitor_get_fd(u->monitor);
}

/* The network devices of pods come and go all day; those made by software tell by rtnetlink. */
static bool matters(struct udev_device *device)
{
	const char *subsystem = udev_device_get_subsystem(device);
	const char *path = udev_device_get_devpath(device);

	return !subsystem || !path || !streq(subsystem, "net") ||
	       !is_prefix(path, "/devices/virtual/");
}

static bool is_new_ibdev(struct udev_device *device)
{
	const char *subsystem = udev_device_get_subsystem(device);
	const char *action = udev_device_get_action(device);

	return subsystem && action && streq(subsystem, "infiniband") && streq(action, "add");
}

int uevents_drain(struct uevents *u)
{
	bool is_lost = false;
	int n = 0;

	for (int i = 0; i < UEVENTS_TURN_MAX; i++) {
		struct udev_device *device;

		errno = 0; /* older libudev leaves it alone when only other subsystems' events were
			      there */
		device = udev_monitor_receive_device(u->monitor);
		if (device) {
			n += matters(device);
			u->n_ibdevs += is_new_ibdev(device);
			udev_device_unref(device);
			continue;
		}
		if (errno != ENOBUFS)
			break; /* what is left behind a malformed message wakes the loop again */
		is_lost = true;
	}

	return is_lost ? -ENOBUFS : n;
}
