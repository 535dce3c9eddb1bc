package dev.sessionkeeper.server.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.sessionkeeper.server.TestDatabase;
import dev.sessionkeeper.server.http.ProblemException;
import dev.sessionkeeper.server.http.ProblemType;
import dev.sessionkeeper.store.Database;
import dev.sessionkeeper.store.Migrations;
import dev.sessionkeeper.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Both stores of subscribers enforce the limits. */
class SubscribersTest {
  private static final StreamsConfig LIMITS = limits(3, 2);

  static Stream<Subscribers> stores() {
    return Stream.of(
        new MemorySubscribers(() -> LIMITS, SettableClock.create()), inDatabase(LIMITS));
  }

  private static StreamsConfig limits(int ofStream, int ofCredential) {
    var second = Duration.ofSeconds(1);
    return new StreamsConfig(
        Duration.ofDays(7), second, second, 10, 10, ofStream, ofCredential, false);
  }

  private static Subscribers inDatabase(StreamsConfig limits) {
    var source = TestDatabase.create().source();
    Migrations.apply(source, "store");
    Migrations.apply(source, "streams");
    return new PostgresSubscribers(Database.of(source), () -> limits);
  }

  private static void assertRefused(
      Subscribers subscribers, String stream, String name, String by) {
    assertThatThrownBy(() -> subscribers.admit(stream, name, by))
        .isInstanceOfSatisfying(
            ProblemException.class,
            e -> assertThat(e.problem().type()).isEqualTo(ProblemType.SUBSCRIBER_LIMIT));
  }

  @ParameterizedTest
  @MethodSource("stores")
  void aCredentialAndAStreamHaveAsManySubscribersAsAllowed(Subscribers subscribers) {
    subscribers.admit("s", "a", "ann");
    subscribers.admit("s", "b", "ann");
    assertRefused(subscribers, "s", "c", "ann");
    assertRefused(subscribers, "other", "c", "ann");
    assertThatCode(() -> subscribers.admit("s", "a", "ann")).doesNotThrowAnyException();

    subscribers.admit("s", "c", "bob");
    assertRefused(subscribers, "s", "d", "bob");
    assertThatCode(() -> subscribers.admit("other", "d", "bob")).doesNotThrowAnyException();
  }

  @Test
  void aNameThatWasNotUsedForALongTimeMakesRoom() {
    var time = SettableClock.create();
    var subscribers = new MemorySubscribers(() -> LIMITS, time);
    subscribers.admit("s", "a", "ann");
    subscribers.admit("s", "b", "ann");
    time.advance(LIMITS.retention().plusSeconds(1));
    assertThatCode(() -> subscribers.admit("s", "c", "ann")).doesNotThrowAnyException();
  }

  @Test
  void callersThatComeAtOnceDoNotPassTheLimitTogether() throws Exception {
    var subscribers = inDatabase(limits(5, 5));
    // Without its lock, about every second round admits one too many.
    for (int round = 0; round < 10; round++) {
      assertThat(admittedAtOnce(subscribers, "stream-" + round, 20)).isEqualTo(5);
    }
  }

  private static int admittedAtOnce(Subscribers subscribers, String stream, int callers)
      throws Exception {
    var atOnce = new CyclicBarrier(callers);
    var calls = new ArrayList<Callable<Boolean>>();
    for (int i = 0; i < callers; i++) {
      var name = "name-" + i;
      calls.add(
          () -> {
            atOnce.await();
            return isAdmitted(subscribers, stream, name);
          });
    }
    int admitted = 0;
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var call : threads.invokeAll(calls)) {
        admitted += call.get() ? 1 : 0;
      }
    }
    return admitted;
  }

  private static boolean isAdmitted(Subscribers subscribers, String stream, String name) {
    try {
      subscribers.admit(stream, name, "reader of " + stream);
      return true;
    } catch (ProblemException e) {
      return false;
    }
  }
}
