/* SPDX-License-Identifier: Apache-2.0 */
#include "nl.h"

#include "library.h"

#define ROW(name) { #name, (void **)&calls.call_##name },

const struct nl_calls *nl_calls(void)
{
	static struct nl_calls calls; /* filled once, as the linker would have done */
	static const struct library_call table[] = { NL_CALLS(ROW) };

	if (library_load("libnl-3.so.200", table, ELEMENTSOF(table)) < 0)
		_exit(EXIT_FAILURE);
	return &calls;
}

const struct genl_calls *genl_calls(void)
{
	static struct genl_calls calls;
	static const struct library_call table[] = { GENL_CALLS(ROW) };

	if (library_load("libnl-genl-3.so.200", table, ELEMENTSOF(table)) < 0)
		_exit(EXIT_FAILURE);
	return &calls;
}
