/**
 * A Java client for the HTTP API. {@link dev.sessionkeeper.client.QueueClient} and {@link
 * dev.sessionkeeper.client.LeaseClient} have types for queues, and {@link
 * dev.sessionkeeper.client.EventStream} for streams. For everything else, such as registered
 * sessions, usage and jobs, {@link dev.sessionkeeper.client.KeeperClient} sends and returns JSON.
 */
@NullMarked
package dev.sessionkeeper.client;

import org.jspecify.annotations.NullMarked;
