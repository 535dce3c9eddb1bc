/**
 * The queue endpoints, over the provider SPI only. A missing optional interface is answered with a
 * problem that says so.
 */
@NullMarked
package dev.sessionkeeper.server.queues;

import org.jspecify.annotations.NullMarked;
