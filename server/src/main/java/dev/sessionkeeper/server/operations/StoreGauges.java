package dev.sessionkeeper.server.operations;

import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.time.TimeSource;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Exposes whether the store accepts writes, its size, and the free space of its disk. */
final class StoreGauges {
  private static final Duration FRESH = Duration.ofSeconds(5);
  private static final Duration SIZED = Duration.ofMinutes(1);

  private StoreGauges() {}

  /** Registers the gauges. Returns a supplier of whether the store was ready at the last check. */
  static BooleanSupplier register(
      MeterRegistry registry,
      Supplier<Optional<String>> notReady,
      Optional<Database> database,
      Optional<Path> folder,
      TimeSource time) {
    var ready = new Sampled<>(1, () -> notReady.get().isEmpty() ? 1 : 0, FRESH, time);
    Gauge.builder("keeper.store.ready", ready::get)
        .description(
            "1 while the store answers and takes writes; 0 when its disk is full, for example")
        .register(registry);
    database.ifPresent(
        store -> {
          var size = new Sampled<>(0L, () -> size(store), SIZED, time);
          Gauge.builder("keeper.store.size", size::get)
              .description("Size of the database")
              .baseUnit("bytes")
              .register(registry);
        });
    folder.ifPresent(path -> disk(registry, path));
    return () -> ready.get() == 1;
  }

  private static void disk(MeterRegistry registry, Path folder) {
    Gauge.builder("keeper.store.disk.free", () -> bytes(folder, true))
        .description("Free space on the disk of the data folder")
        .baseUnit("bytes")
        .register(registry);
    Gauge.builder("keeper.store.disk", () -> bytes(folder, false))
        .description("Size of the disk of the data folder")
        .baseUnit("bytes")
        .register(registry);
  }

  private static double bytes(Path folder, boolean isFree) {
    try {
      var disk = Files.getFileStore(folder);
      return isFree ? disk.getUsableSpace() : disk.getTotalSpace();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long size(Database database) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery("SELECT pg_database_size(current_database())")) {
            rows.next();
            return rows.getLong(1);
          }
        });
  }
}
