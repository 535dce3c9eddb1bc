package dev.sessionkeeper.benchmarks.cursors;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.sessionkeeper.coalescing.PostgresLastValueStore;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Database;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * Saves the last event of 1,000 streams in a durable PostgreSQL, three ways in turn: at full speed,
 * then at fixed rates with the time until an event is durable.
 */
public final class CursorBenchmark {
  private static final PrintStream OUT = System.out;
  private static final int STREAMS = 1_000;
  private static final int PRODUCERS = 4;

  private CursorBenchmark() {}

  public static void main(String[] arguments) throws Exception {
    int seconds = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 10;
    try (var postgres = EmbeddedPostgres.temporary();
        var source = pool(postgres)) {
      PostgresLastValueStore.create(Database.of(source), "warm-up");
      List<Supplier<WriterArm>> arms =
          List.of(
              () -> new NaiveArm(source),
              () -> new BatchingArm(source, PRODUCERS),
              () -> new CoalescingArm(source));
      for (var arm : arms) {
        Drive.measure(arm.get(), STREAMS, PRODUCERS, 0, 2);
      }
      asFastAsEachCan(arms, seconds);
      for (int perSecond : new int[] {1_000, 100_000}) {
        OUT.printf("%nThe coalescing writer at %,d events/s%n", perSecond);
        OUT.println(
            Drive.measure(new CoalescingArm(source), STREAMS, PRODUCERS, perSecond, seconds));
      }
    }
  }

  private static void asFastAsEachCan(List<Supplier<WriterArm>> arms, int seconds)
      throws InterruptedException {
    OUT.printf("As fast as each can: %,d streams, %d producers%n", STREAMS, PRODUCERS);
    var rates = new double[arms.size()];
    for (int i = 0; i < rates.length; i++) {
      var result = Drive.measure(arms.get(i).get(), STREAMS, PRODUCERS, 0, seconds);
      rates[i] = result.perSecond();
      OUT.println(result);
    }
    OUT.printf("Ratios to the first: %s%n", Arrays.toString(ratios(rates)));
  }

  private static String[] ratios(double[] rates) {
    return Arrays.stream(rates)
        .mapToObj(rate -> String.format("%.1f", rate / rates[0]))
        .toArray(String[]::new);
  }

  private static HikariDataSource pool(EmbeddedPostgres postgres) {
    var config = new HikariConfig();
    config.setDataSource(postgres.dataSource());
    config.setMaximumPoolSize(8);
    return new HikariDataSource(config);
  }
}
