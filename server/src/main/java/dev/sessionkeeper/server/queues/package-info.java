/**
 * The queue endpoints, over the provider SPI only: what a provider cannot do is a problem that says
 * so.
 */
@NullMarked
package dev.sessionkeeper.server.queues;

import org.jspecify.annotations.NullMarked;
