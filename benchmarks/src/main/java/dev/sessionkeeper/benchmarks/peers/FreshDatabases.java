package dev.sessionkeeper.benchmarks.peers;

import javax.sql.DataSource;

/** Creates an empty database for a peer's turn. */
interface FreshDatabases {
  DataSource fresh();

  /** Returns what the server has used so far. */
  double cpuSeconds();
}
