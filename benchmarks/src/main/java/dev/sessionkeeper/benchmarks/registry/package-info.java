/** The registry, metering and delivery beside the same statements without us; failover trials. */
@NullMarked
package dev.sessionkeeper.benchmarks.registry;

import org.jspecify.annotations.NullMarked;
