package dev.sessionkeeper.jobs;

import java.time.Instant;

/**
 * The scheduled moment that a run is for.
 *
 * @param at the end of the slot's interval; work bills up to this moment, not up to the time it
 *     runs
 * @param covered how many earlier slots this run makes up for
 * @param dropped how many earlier slots are dropped
 * @param manual whether an operator requested the run; such a run uses up no slot
 */
public record JobSlot(Instant at, long covered, long dropped, boolean manual) {}
