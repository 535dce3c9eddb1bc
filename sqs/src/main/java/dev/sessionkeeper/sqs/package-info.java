/** AWS SQS as a provider: message groups of FIFO queues as sessions. */
@NullMarked
package dev.sessionkeeper.sqs;

import org.jspecify.annotations.NullMarked;
