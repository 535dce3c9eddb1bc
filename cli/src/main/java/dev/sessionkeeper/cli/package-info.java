/** The command {@code keeper}: starts the server, and calls its HTTP API for operators. */
@NullMarked
package dev.sessionkeeper.cli;

import org.jspecify.annotations.NullMarked;
