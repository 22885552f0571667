/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skip: ends a test that lacks something, in the words that tests/run counts and prints.
 */
#pragma once

#define skip_without(...)                                                                          \
	do {                                                                                       \
		print_message("skipped: without " __VA_ARGS__);                                    \
		print_message("\n");                                                               \
		skip();                                                                            \
	} while (0)
