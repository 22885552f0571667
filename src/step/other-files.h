/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other files: files in folders of other programs. Where a file could do more than inform, the
 * folder is read-only for the service, and rdma-provision-files.service writes the file.
 */
#pragma once

#include "../model/outputs.h"
#include "../os/fs.h"

#define MANIFEST_NAME "Manifest" /* beside the names of outputs */
#define RULES_NAME    "Rules"
#define ROCE_NAME     "RoCE"

/* Is the file there one of ours, which begin with @mark? Return: 1, 0 for no file, -EEXIST for a
 * file of another program. */
int other_files_look(const struct fs *fs, const char *path, const char *mark);

/*
 * Writes a file, readable for all, or removes it with @text NULL: itself, or by the helper in a
 * folder that is read-only. @name: of an output, MANIFEST_NAME or RULES_NAME; @path is absolute.
 * Return: 0 or -errno.
 */
int other_files_put(const struct fs *fs, const char *name, const char *path, const char *text);

/*
 * A default of rdma_cm (os/rdma.h), in the same way: the service cannot write to configfs, where
 * other modules have folders too. @attribute "": makes the folder of the device. @value NULL:
 * removes it, and those of names that no device has any more. Return: 0 or -errno.
 */
int other_files_set_roce(const struct fs *fs, const char *ibdev, const char *attribute,
			 const char *value);

/* The files that the helper may write, by its own reading of the configuration. */
struct file_request {
	const char *paths[_OUTPUT_N];         /* of [Output]; empty for none */
	const char *manifest, *manifest_text; /* NULL: there is none to write */
	int unread; /* why the configuration is not known: -errno, and its files stay as they are */
};

/**
 * other_files_serve() - the helper's side of other_files_put()
 * @question: the name, a blank, the path, a newline, and the text, which is empty to remove a file
 *
 * A file is written at its configured path only. NCCL's has nothing but settings of NCCL, NFD's
 * nothing but our features, none of them with a path as its value, and a manifest is the one of
 * @allowed. Files of ours are removed below /etc and below the folders of RKE2 and k3s. Udev rules
 * are at RULES_PATH, and are made of the PCI addresses in the text: no configuration is
 * needed. Nor is it for defaults of rdma_cm, whose path is the device, a slash and the attribute.
 *
 * Return: 0; -EPERM: the text must not be written there; -ESTALE: the service asks with another
 * configuration; -EEXIST: a file that is not ours; -EBADMSG, or another -errno.
 */
int other_files_serve(const struct fs *fs, const struct file_request *allowed,
		      const char *question);
