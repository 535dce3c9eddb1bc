/** The port through which all time enters, so that a test can move it. */
@NullMarked
package dev.sessionkeeper.time;

import org.jspecify.annotations.NullMarked;
