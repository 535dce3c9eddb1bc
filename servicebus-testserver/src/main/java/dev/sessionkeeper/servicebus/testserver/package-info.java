/** An AMQP 1.0 server in this process that answers the Azure Service Bus SDK, for tests. */
@NullMarked
package dev.sessionkeeper.servicebus.testserver;

import org.jspecify.annotations.NullMarked;
