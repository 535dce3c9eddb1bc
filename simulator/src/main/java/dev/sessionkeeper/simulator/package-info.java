/** Deterministic simulation: owners, senders and faults on one thread and on virtual time. */
@NullMarked
package dev.sessionkeeper.simulator;

import org.jspecify.annotations.NullMarked;
