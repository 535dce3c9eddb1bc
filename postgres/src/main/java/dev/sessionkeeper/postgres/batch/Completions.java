package dev.sessionkeeper.postgres.batch;

import dev.sessionkeeper.SessionId;
import java.util.List;

/** Messages of one session that a settlement completes. */
public interface Completions {
  SessionId session();

  /** Returns the sequence numbers, as the calls named them. */
  List<long[]> done();
}
