/**
 * The registry, metering and delivery compared with the same statements without the product;
 * failover trials.
 */
@NullMarked
package dev.sessionkeeper.benchmarks.registry;

import org.jspecify.annotations.NullMarked;
