package dev.sessionkeeper.coalescing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.store.Database;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class PostgresLastValueStoreTest extends LastValueStoreContract {
  private static final AtomicInteger spaces = new AtomicInteger();
  private static EmbeddedPostgres postgres;
  private static Database database;

  @BeforeAll
  static void start() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    database = Database.of(postgres.dataSource());
  }

  @AfterAll
  static void stop() {
    postgres.close();
  }

  @Override
  LastValueStore<String, String> anyKeys() {
    return PostgresLastValueStore.create(database, "space" + spaces.incrementAndGet());
  }

  @Override
  LastValueStore<String, String> onlyKnown() {
    var store = PostgresLastValueStore.ofKnownKeys(database, "space" + spaces.incrementAndGet());
    store.register("known", 0, "");
    return store;
  }

  @Test
  void spacesAreKeptApart() {
    var one = anyKeys();
    one.write(List.of(entry("a", 1)));
    assertThat(anyKeys().read("a")).isEmpty();
  }

  @Test
  void batchesThatOverlapInAnyOrderNeverDeadlock() throws Exception {
    for (var store : List.of(anyKeys(), onlyKnownHundred())) {
      try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var tasks = new ArrayList<Callable<Integer>>();
        for (int writer = 0; writer < 6; writer++) {
          int seed = writer;
          tasks.add(() -> writeShuffled(store, new Random(seed)));
        }
        for (var done : threads.invokeAll(tasks)) {
          assertThat(done.get(60, TimeUnit.SECONDS)).isEqualTo(20);
        }
      }
      assertThat(store.read("k42")).get().extracting("version").isEqualTo(20L);
    }
  }

  private LastValueStore<String, String> onlyKnownHundred() {
    var store = PostgresLastValueStore.ofKnownKeys(database, "space" + spaces.incrementAndGet());
    for (int i = 0; i < 100; i++) {
      store.register("k" + i, 0, "");
    }
    return store;
  }

  private static int writeShuffled(LastValueStore<String, String> store, Random random) {
    int rounds = 0;
    for (int version = 1; version <= 20; version++) {
      var batch = new ArrayList<LastValueStore.Entry<String, String>>();
      for (int i = 0; i < 100; i++) {
        batch.add(entry("k" + i, version));
      }
      Collections.shuffle(batch, random);
      store.write(batch);
      rounds++;
    }
    return rounds;
  }

  @Test
  void aTextThatPostgresCannotHoldIsFoundAndSetAside() throws Exception {
    var store = anyKeys();
    try (var writer = CoalescingWriter.create(store)) {
      var good = writer.submit("good", 1, "fine").toCompletableFuture();
      var bad = writer.submit("bad", 1, "nul \0 inside").toCompletableFuture();
      assertThat(good.get(20, TimeUnit.SECONDS)).isEqualTo(new Outcome.Durable(1));
      assertThat(bad.get(20, TimeUnit.SECONDS)).isInstanceOf(Outcome.Dead.class);
    }
    assertThat(
            texts(
                "SELECT value || ' ' || (cause LIKE '%SK-305%') FROM keeper.last_value_dead"
                    + " WHERE key = 'bad'"))
        .containsExactly("nul \uFFFD inside true");
  }

  @Test
  void aMissingTableIsNoEntrysFault() {
    var other = Database.of(postgres.createDatabase("without_tables"));
    var store = PostgresLastValueStore.create(other, "s");
    other.doInTransaction(
        connection -> {
          try (var statement = connection.createStatement()) {
            statement.execute("DROP TABLE keeper.last_value");
          }
        });
    assertThatThrownBy(() -> store.write(List.of(entry("a", 1))))
        .isInstanceOf(KeeperException.Unavailable.class);
  }

  @Test
  void whatIsAcceptedSurvivesTheDeathOfTheDatabase() throws Exception {
    try (var mortal = EmbeddedPostgres.temporary()) {
      var store = PostgresLastValueStore.create(Database.of(mortal.dataSource()), "cursors");
      var writer = CoalescingWriter.create(store);
      writer.submit("a", 1, "v").toCompletableFuture().get(20, TimeUnit.SECONDS);
      ProcessHandle.of(mortal.pid()).orElseThrow().destroyForcibly();
      var during = writer.submit("a", 2, "v").toCompletableFuture();
      var last = writer.submit("b", 7, "v").toCompletableFuture();
      assertThat(during.get(60, TimeUnit.SECONDS).isSaved()).isTrue();
      assertThat(last.get(60, TimeUnit.SECONDS).isSaved()).isTrue();
      assertThat(writer.close(Duration.ofSeconds(5)).isComplete()).isTrue();
      assertThat(store.read("a")).get().extracting("version").isEqualTo(2L);
    }
  }

  private static List<String> texts(String sql) {
    return database.withConnection(
        connection -> {
          try (var statement = connection.createStatement();
              var rows = statement.executeQuery(sql)) {
            var texts = new ArrayList<String>();
            while (rows.next()) {
              texts.add(rows.getString(1));
            }
            return texts;
          }
        });
  }
}
