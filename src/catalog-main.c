/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the message catalog. Run when the program is built, never installed.
 */
#include "output/catalog.h"

int main(void)
{
	_cleanup_(freep) char *text = NULL;

	return output_catalog(&text) < 0 || fputs(text, stdout) < 0 || fflush(stdout) != 0
		       ? EXIT_FAILURE
		       : EXIT_SUCCESS;
}
