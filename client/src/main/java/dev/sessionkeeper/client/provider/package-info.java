/** Queues of a Sessionkeeper server as a {@code QueueProvider}. */
@NullMarked
package dev.sessionkeeper.client.provider;

import org.jspecify.annotations.NullMarked;
