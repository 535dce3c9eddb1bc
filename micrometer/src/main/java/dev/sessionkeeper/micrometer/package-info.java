/** Meters of processors and queues, for any Micrometer registry. */
@NullMarked
package dev.sessionkeeper.micrometer;

import org.jspecify.annotations.NullMarked;
