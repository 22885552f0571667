/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

void config_done(struct config *c)
{
	for (size_t i = 0; i < c->n_devices; i++)
		free(c->devices[i].match);
	free(c->devices);
	*c = (struct config){};
}
