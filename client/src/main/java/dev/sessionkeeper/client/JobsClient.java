package dev.sessionkeeper.client;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The calls of scheduled jobs. */
public final class JobsClient {
  private final KeeperClient client;

  JobsClient(KeeperClient client) {
    this.client = client;
  }

  /** Returns all jobs, by name, without their history. */
  public List<Job> list() {
    return KeeperClient.read(client.get("/jobs", Map.of()), Listing.class).jobs();
  }

  /** Returns one job with its last runs. */
  public Job get(String name) {
    return KeeperClient.read(client.get(path(name), Map.of()), Job.class);
  }

  /** Requests a run of the job as soon as a server is free. */
  public void run(String name) {
    act(name, "run");
  }

  /** Pauses the job until it is resumed. */
  public void pause(String name) {
    act(name, "pause");
  }

  public void resume(String name) {
    act(name, "resume");
  }

  private void act(String name, String action) {
    client.post(path(name) + "/" + action, QueueClient.object());
  }

  private static String path(String name) {
    return "/jobs/" + KeeperClient.encoded(name);
  }

  /**
   * A scheduled job.
   *
   * @param owner the server that runs the job now; empty if none does
   * @param history the last runs, newest first; empty in a list
   */
  public record Job(
      String name,
      Duration interval,
      Instant nextRunAt,
      boolean paused,
      int attempts,
      Optional<String> lastError,
      Optional<String> owner,
      long epoch,
      List<Run> history) {}

  /** One run of a job. */
  public record Run(
      long epoch,
      String owner,
      Instant startedAt,
      Optional<Instant> endedAt,
      String outcome,
      Optional<String> error,
      Optional<String> progress) {}

  private record Listing(List<Job> jobs) {}
}
