/**
 * The command {@code keeper}: starts the server, and does over HTTP what a person on call needs.
 */
@NullMarked
package dev.sessionkeeper.cli;

import org.jspecify.annotations.NullMarked;
