package dev.sessionkeeper.jobs;

import dev.sessionkeeper.coalescing.LastValueStore;
import dev.sessionkeeper.store.Database;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stores the newest progress text of each run, in the row of the run. */
record ProgressTable(Database database) implements LastValueStore<ProgressTable.Run, String> {
  private static final Logger log = LoggerFactory.getLogger(ProgressTable.class);

  // Compares with "at most", not "less than": a write repeated after an unknown outcome must count
  // as done.
  private static final String WRITE =
      """
      UPDATE keeper.job_run SET progress = ?, progress_no = ?
       WHERE job = ? AND epoch = ? AND progress_no <= ?
      """; // job_run_pkey (job, epoch)

  private static final String READ =
      "SELECT progress_no, progress FROM keeper.job_run WHERE job = ? AND epoch = ?";

  /** Identifies a run. */
  record Run(String job, long epoch) {}

  @Override
  public List<Result> write(List<Entry<Run, String>> entries) {
    return database.inTransaction(
        connection -> {
          try (var statement = connection.prepareStatement(WRITE)) {
            var results = new ArrayList<Result>();
            for (var entry : entries) {
              statement.setString(1, entry.value());
              statement.setLong(2, entry.version());
              statement.setString(3, entry.key().job());
              statement.setLong(4, entry.key().epoch());
              statement.setLong(5, entry.version());
              results.add(statement.executeUpdate() == 1 ? Result.WRITTEN : Result.NOT_FOUND);
            }
            return results;
          }
        });
  }

  @Override
  public void setAside(Entry<Run, String> entry, String cause) {
    log.warn("The progress of {} cannot be kept: {}", entry.key(), cause);
  }

  @Override
  public Optional<Entry<Run, String>> read(Run key) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.prepareStatement(READ)) {
            statement.setString(1, key.job());
            statement.setLong(2, key.epoch());
            try (var rows = statement.executeQuery()) {
              return rows.next() && rows.getString(2) != null
                  ? Optional.of(new Entry<>(key, rows.getLong(1), rows.getString(2)))
                  : Optional.empty();
            }
          }
        });
  }
}
