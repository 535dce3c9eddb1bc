/** One small {@code main} per idea, compiled and run by the build. */
@NullMarked
package dev.sessionkeeper.examples;

import org.jspecify.annotations.NullMarked;
