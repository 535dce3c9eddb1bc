package dev.sessionkeeper.server.jobs;

import dev.sessionkeeper.Owner;
import dev.sessionkeeper.jobs.JobOptions;
import dev.sessionkeeper.jobs.Jobs;
import dev.sessionkeeper.server.config.KeeperConfig;
import dev.sessionkeeper.server.feature.Feature;
import dev.sessionkeeper.server.http.Route;
import dev.sessionkeeper.spi.DeadLetterQueues;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;

/** The scheduled work of all features, each job on one node at a time. */
public final class JobsFeature implements Feature {
  private final Jobs jobs;
  private volatile Duration deadLetters;

  private JobsFeature(Context context, DataSource source, List<Feature> features) {
    Jobs.migrate(source);
    var config = context.config().get(JobsConfig.SECTION);
    deadLetters = config.deadLetters();
    var meters = new JobMeters(context.meters());
    jobs =
        Jobs.create(
            source,
            source,
            JobOptions.defaults()
                .owner(Owner.ofProcess("server"))
                .lease(config.lease())
                .poll(config.poll())
                .time(context.time())
                .listener(meters));
    context.engine().schedule(jobs);
    features.forEach(feature -> feature.schedule(jobs));
    if (context.engine().queues() instanceof DeadLetterQueues letters) {
      new ForgetDeadLetters(
              context.engine().queues(), letters, Database.of(source), () -> deadLetters)
          .schedule(jobs);
    }
    meters.watch(jobs, context.time());
    jobs.start();
  }

  /** Starts the jobs of these features. Returns empty without a database, which job leases need. */
  public static Optional<JobsFeature> open(Context context, List<Feature> features) {
    return context
        .engine()
        .database()
        .map(source -> new JobsFeature(context, source, List.copyOf(features)));
  }

  @Override
  public List<Route> routes() {
    return new JobRoutes(jobs).routes();
  }

  @Override
  public Optional<String> notReady() {
    return Optional.empty();
  }

  @Override
  public void reconfigure(KeeperConfig config) {
    deadLetters = config.get(JobsConfig.SECTION).deadLetters();
  }

  @Override
  public void close() {
    jobs.close();
  }
}
