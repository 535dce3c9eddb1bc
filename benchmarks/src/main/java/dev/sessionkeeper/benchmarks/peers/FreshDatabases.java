package dev.sessionkeeper.benchmarks.peers;

import javax.sql.DataSource;

/** Where a peer gets an empty database for its turn. */
interface FreshDatabases {
  DataSource fresh();

  /** What the server has used so far. */
  double cpuSeconds();
}
