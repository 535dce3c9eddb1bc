package dev.sessionkeeper.server.clients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A subscriber that is frozen while events fill its buffers, and is then killed. */
class FrozenSubscriberTest {
  private static final String LARGE = "x".repeat(8_000);

  @TempDir Path folder;

  /** The language of the subscriber. */
  enum Language {
    TYPESCRIPT,
    PYTHON;

    /** Prepares the language's runtime; skips the test if it is missing. */
    void require() {
      switch (this) {
        case TYPESCRIPT -> {
          Tools.requireNode();
          Tools.buildTypeScript();
        }
        case PYTHON -> Tools.requirePython();
      }
    }

    Path folder() {
      return this == TYPESCRIPT ? Tools.TYPESCRIPT : Tools.PYTHON;
    }

    List<String> command() {
      return switch (this) {
        case TYPESCRIPT -> List.of("node", "test/subscriber.mjs");
        case PYTHON -> List.of(Tools.requirePython(), "tests/subscriber.py");
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void nothingThatAFrozenSubscriberDidNotHandleIsAcknowledged(Language language) throws Exception {
    language.require();
    var history = Files.createFile(folder.resolve("handled"));
    try (var server = TestServer.start("", TestDatabase.create().environment())) {
      long published = publish(server, 3);
      for (int life = 0; life < 3; life++) {
        var subscriber = start(language, server, history);
        try {
          long before = published;
          await().until(() -> handled(history).contains(before));
          signal(subscriber, "STOP");
          // 4 MB: more than the buffers of both sides hold for a frozen reader.
          published = publish(server, 500);
          await()
              .pollDelay(Duration.ofSeconds(2))
              .untilAsserted(() -> assertThat(position(server)).isLessThanOrEqualTo(before));
        } finally {
          subscriber.destroyForcibly().waitFor();
        }
        assertThat(position(server)).isLessThanOrEqualTo(handled(history).last());
      }
      long last = published;
      var subscriber = start(language, server, history);
      try {
        await().atMost(Duration.ofSeconds(60)).until(() -> position(server) == last);
      } finally {
        subscriber.destroyForcibly().waitFor();
      }
      assertThat(handled(history))
          .containsExactlyElementsOf(LongStream.rangeClosed(1, last).boxed().toList());
    }
  }

  private static Process start(Language language, TestServer server, Path history)
      throws IOException {
    return Tools.start(
        language.folder(),
        Map.of(
            "KEEPER_SERVERS",
            "http://127.0.0.1:" + server.port(),
            "KEEPER_STREAM",
            "large",
            "KEEPER_HISTORY",
            history.toString()),
        Optional.empty(),
        language.command());
  }

  private static void signal(Process process, String name) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, "" + process.pid()).start().waitFor())
        .isZero();
  }

  private static long publish(TestServer server, int count) {
    long last = 0;
    for (int i = 0; i < count; i++) {
      var reply = server.post("/streams/large/events", "{\"data\":\"" + LARGE + "\"}");
      assertThat(reply.status()).isEqualTo(201);
      last = reply.json().get("id").asLong();
    }
    return last;
  }

  private static long position(TestServer server) {
    return server.get("/streams/large/subscribers").json().at("/subscribers/0/position").asLong();
  }

  private static SortedSet<Long> handled(Path history) {
    try {
      var numbers = new TreeSet<Long>();
      Files.readAllLines(history).forEach(line -> numbers.add(Long.valueOf(line)));
      return numbers;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
