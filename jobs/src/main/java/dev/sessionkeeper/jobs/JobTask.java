package dev.sessionkeeper.jobs;

/**
 * The work of a job. It runs on a virtual thread and may block.
 *
 * <p>The thread is interrupted when the lease is lost or the process closes. An exception is a
 * failed attempt, which is repeated after a pause.
 */
@FunctionalInterface
public interface JobTask {
  void run(JobContext context) throws Exception;
}
