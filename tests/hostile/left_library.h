/* How the next calls of a thread are to end.
 * SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef TESTS_LEFT_LIBRARY_H
#define TESTS_LEFT_LIBRARY_H

#include <csetjmp>

enum { RETURN, THROW, JUMP, EXIT, WAIT, NEST };

void leave_by(int how, jmp_buf *where);

#endif
