package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;

class ReaderLimitsTest {
  private static final Duration SHORT = Duration.ofSeconds(1);
  private static final int LARGE = 200_000;

  private static StreamsConfig config(Duration heartbeat, Duration slowReader, int maxReaders) {
    return StreamsConfig.of(Duration.ofDays(7), heartbeat, slowReader, maxReaders);
  }

  @Test
  void aQuietStreamHasAHeartbeat() throws Exception {
    try (var server = StreamServer.inMemory(config(SHORT, SHORT, 10));
        var reader = new RawReader(server.port(), "/streams/quiet/events")) {
      await()
          .atMost(Duration.ofSeconds(20))
          .until(() -> reader.lines.stream().filter(": heartbeat"::equals).count() >= 2);
    }
  }

  @Test
  void aSlowReaderIsDisconnectedWithLastWordsAndCanReadOn() throws Exception {
    try (var server = StreamServer.inMemory(config(Duration.ofSeconds(15), SHORT, 10));
        var slow = RawReader.thatDoesNotRead(server.port(), "/streams/much/events?lastEventId=0")) {
      publishMuch(server);
      await().atMost(Duration.ofSeconds(20)).until(() -> isDisconnected(server));
      slow.readOn();
      await().atMost(Duration.ofSeconds(20)).until(slow::hasEnded);
      assertThat(slow.lines).contains("event: slow-reader");
      var ids = slow.ids();
      assertThat(slow.lines).anyMatch(line -> line.startsWith("data: {\"lastEventId\":"));
      try (var again =
          new RawReader(server.port(), "/streams/much/events", "Last-Event-ID: " + ids.getLast())) {
        await().atMost(Duration.ofSeconds(20)).until(() -> again.ids().contains(100L));
        assertThat(again.ids().getFirst()).isEqualTo(ids.getLast() + 1);
      }
    }
  }

  @Test
  void aReaderThatNeverReadsIsCutAndHoldsNothing() throws Exception {
    try (var server = StreamServer.inMemory(config(Duration.ofSeconds(15), SHORT, 10));
        var dead = RawReader.thatDoesNotRead(server.port(), "/streams/much/events?lastEventId=0")) {
      publishMuch(server);
      await().atMost(Duration.ofSeconds(20)).until(() -> isDisconnected(server));
      assertThat(dead.hasEnded()).isFalse();
    }
  }

  /** A single credential could end the server with some hundred readers that read nothing. */
  @Test
  void slowReadersOfLargeEventsShareABoundedAmountOfMemory() throws Exception {
    var patient = config(Duration.ofSeconds(15), Duration.ofSeconds(60), 100);
    long memory = 4 << 20;
    var slow = new ArrayList<RawReader>();
    try (var server = StreamServer.inMemory(patient, memory)) {
      publishMuch(server);
      for (int i = 0; i < 20; i++) {
        slow.add(RawReader.thatDoesNotRead(server.port(), "/streams/much/events?lastEventId=0"));
      }
      await().until(() -> server.bufferedBytes() > memory / 2);
      // Each of the others was told to come back, because it would have exceeded the memory.
      await().until(() -> server.readers() <= memory / (2 * LARGE));
      assertThat(server.bufferedBytes()).isLessThanOrEqualTo(memory);
      for (var reader : slow) {
        reader.close();
      }
      await().until(() -> server.bufferedBytes() == 0);
    }
  }

  @Test
  void aReaderBeyondTheLimitIsToldToComeBackLater() throws Exception {
    try (var server = StreamServer.inMemory(config(SHORT, SHORT, 1));
        var first = new RawReader(server.port(), "/streams/a/events")) {
      await().until(() -> first.lines.contains("retry: 1000"));
      var refused = server.get("/streams/a/events");
      assertThat(refused.statusCode()).isEqualTo(503);
      assertThat(refused.headers().firstValue("Retry-After")).isPresent();
    }
  }

  @Test
  void openReadersEndPromptlyWhenTheServerEnds() throws Exception {
    var server = StreamServer.inMemory(config(Duration.ofSeconds(15), Duration.ofSeconds(30), 10));
    try (var quick = new RawReader(server.port(), "/streams/much/events?subscriber=ann");
        var slow = RawReader.thatDoesNotRead(server.port(), "/streams/much/events?lastEventId=0")) {
      await().until(() -> quick.lines.contains("retry: 1000"));
      publishMuch(server);
      await().until(() -> quick.ids().contains(100L));
      var began = System.nanoTime();
      server.close();
      assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(15));
      await().until(quick::hasEnded);
      assertThat(quick.lines).contains(": the server is ending");
      assertThat(slow.hasEnded()).isFalse();
    }
  }

  /** Publishes more than all socket buffers together hold. */
  private static void publishMuch(StreamServer server) throws Exception {
    var body = "{\"data\":\"" + "x".repeat(LARGE) + "\"}";
    for (int i = 0; i < 100; i++) {
      assertThat(server.post("much", body).statusCode()).isEqualTo(201);
    }
  }

  private static boolean isDisconnected(StreamServer server) {
    return server.readers() == 0;
  }
}
