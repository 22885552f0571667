#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# For Packer, after a provisioner "file" that brings the package:
#
#   provisioner "shell" {
#     script           = "provision.sh"
#     execute_command  = "sudo env {{ .Vars }} sh '{{ .Path }}'"
#     environment_vars = ["DEB=/tmp/rdma-provision.deb", "PRESET=vke-shared", "EXPECT=4"]
#   }
#
# The machine that Packer boots is not the node and may have no NIC, so nothing is asked of it: "set" checks the settings, the node's first
# boot does the rest. Its records are removed, and each clone gets a machine-id of its own.
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y "$DEB"
[ ! -d /run/systemd/system ] || systemctl stop rdma-provision.service # a builder with a chroot or a container runs none
rdma-provision set --preset="$PRESET" "Device rdma.Expect=$EXPECT"
rdma-provision bake
rm -rf /var/lib/rdma-provision/*
: >/etc/machine-id
