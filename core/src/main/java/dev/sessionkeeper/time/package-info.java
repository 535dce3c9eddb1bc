/** Time comes in through one port, so that a test can move it. */
@NullMarked
package dev.sessionkeeper.time;

import org.jspecify.annotations.NullMarked;
