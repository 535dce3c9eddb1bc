/**
 * Fault runs: consumers, senders and an operator as processes of one database, while they and the
 * database are killed, stopped and restarted. Start with {@link
 * dev.sessionkeeper.benchmarks.faults.FaultRun}.
 */
@NullMarked
package dev.sessionkeeper.benchmarks.faults;

import org.jspecify.annotations.NullMarked;
