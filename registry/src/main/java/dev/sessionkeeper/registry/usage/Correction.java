package dev.sessionkeeper.registry.usage;

import java.util.List;

/** The outcome of a correction. */
public sealed interface Correction {
  /** The reversal and the new row were appended. */
  record Applied(List<LedgerRow> rows) implements Correction {
    public Applied {
      rows = List.copyOf(rows);
    }
  }

  /** The session has no row of that number, or retention has deleted it. Nothing was changed. */
  record NotFound() implements Correction {}

  /**
   * The row was corrected before, or is itself a reversal. Nothing was changed; correct the row
   * that replaced it.
   */
  record AlreadyCorrected() implements Correction {}
}
