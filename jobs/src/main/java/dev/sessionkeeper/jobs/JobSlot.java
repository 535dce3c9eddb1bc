package dev.sessionkeeper.jobs;

import java.time.Instant;

/**
 * The moment of the grid that a run is for.
 *
 * @param at the slot; work that needs an end of its interval takes this and not the time it runs
 * @param covered how many earlier slots this run makes up for
 * @param dropped how many earlier slots nobody will run
 * @param manual whether a person asked for the run before its time; it uses up no slot
 */
public record JobSlot(Instant at, long covered, long dropped, boolean manual) {}
