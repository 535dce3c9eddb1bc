/**
 * The configuration: a file, the environment and flags, bound strictly, with all errors at once.
 */
@NullMarked
package dev.sessionkeeper.server.config;

import org.jspecify.annotations.NullMarked;
