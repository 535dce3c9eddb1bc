/** The numbers of all queues over the last half hour. */
@NullMarked
package dev.sessionkeeper.server.samples;

import org.jspecify.annotations.NullMarked;
