package dev.sessionkeeper.simulator;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.SessionState;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.embedded.EmbeddedPostgres;
import dev.sessionkeeper.postgres.PostgresQueueProvider;
import dev.sessionkeeper.spi.HeldSession.Settled;
import dev.sessionkeeper.spi.QueueProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The store that the simulator models, and PostgreSQL: the same interleavings of two owners must
 * have the same outcomes, statement by statement.
 */
@Tag("slow")
class ModelAgainstPostgresTest {
  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int MAX_DELIVERIES = 3;
  private static EmbeddedPostgres postgres;
  private static QueueProvider provider;
  private static int queues;

  @BeforeAll
  static void start() {
    postgres = EmbeddedPostgres.temporaryWithoutSync();
    provider = PostgresQueueProvider.create(postgres.dataSource());
  }

  @AfterAll
  static void stop() {
    provider.close();
    postgres.close();
  }

  /** One statement of a script; it returns what the caller learns. */
  private interface Step {
    String run(Played play) throws Exception;
  }

  /** A store under a script, and what its owners have in hand. */
  private static final class Played {
    final ScriptedStore store;
    final Map<String, List<Long>> open = new HashMap<>();
    final List<String> outcomes = new ArrayList<>();
    long highestEpoch;

    Played(ScriptedStore store) {
      this.store = store;
    }

    void run(Step step) throws Exception {
      String outcome;
      try {
        outcome = step.run(this);
      } catch (KeeperException e) {
        outcome = e.getClass().getSimpleName();
      }
      outcomes.add(outcome);
    }
  }

  private static Step send(String session, String... ids) {
    return play -> {
      var messages = new ArrayList<Message>();
      for (var id : ids) {
        messages.add(Message.of(SessionId.of(session), Payload.text(id)).withId(MessageId.of(id)));
      }
      var outcomes = play.store.send(messages);
      return "send " + outcomes.stream().map(each -> each instanceof SendOutcome.Stored).toList();
    };
  }

  private static Step accept(String owner, Duration wait) {
    return play -> {
      var session = play.store.accept(owner, wait);
      if (session.isEmpty()) {
        return owner + " gets no session";
      }
      boolean isHigher = play.store.epoch(owner) > play.highestEpoch;
      play.highestEpoch = Math.max(play.highestEpoch, play.store.epoch(owner));
      play.open.put(owner, new ArrayList<>());
      return owner + " gets " + session.get() + (isHigher ? "" : " under an old epoch");
    };
  }

  private static Step receive(String owner, int max) {
    return ifHeld(
        owner,
        play -> {
          var batch = play.store.receive(owner, max);
          var text = new StringBuilder(owner).append(" receives");
          for (var delivery : batch) {
            play.open.get(owner).add(delivery.sequence());
            text.append(' ').append(delivery.message().id()).append('/').append(delivery.attempt());
          }
          return text.toString();
        });
  }

  /** Settles the open delivery at this place. */
  private static Step settle(String owner, int place, Settlement settlement) {
    return settle(owner, place, settlement, Optional.empty());
  }

  private static Step settle(
      String owner, int place, Settlement settlement, Optional<SessionState.Write> state) {
    return ifHeld(
        owner,
        play -> {
          var open = play.open.get(owner);
          if (open.size() <= place) {
            return owner + " has nothing to settle";
          }
          play.store.settle(owner, List.of(new Settled(open.get(place), settlement)), state);
          if (settlement instanceof Settlement.Retry) {
            open.clear(); // Deliveries behind it do not count.
          } else {
            open.remove(place);
          }
          return owner + " settles";
        });
  }

  private static Step state(String owner) {
    return ifHeld(
        owner,
        play -> {
          var state = play.store.state(owner);
          return owner + " reads " + new String(state.bytes(), UTF_8) + " v" + state.version();
        });
  }

  private static Step renew(String owner) {
    return ifHeld(
        owner,
        play -> {
          play.store.renew(owner);
          return owner + " renews";
        });
  }

  private static Step close(String owner) {
    return ifHeld(
        owner,
        play -> {
          play.store.close(owner);
          return owner + " closes";
        });
  }

  private static Step ifHeld(String owner, Step step) {
    return play -> play.open.containsKey(owner) ? step.run(play) : owner + " holds nothing";
  }

  private static ModelledScript model(Duration lock, Bug... bugs) {
    return new ModelledScript(lock, MAX_DELIVERIES, Set.of(bugs));
  }

  private static PostgresScript database(Duration lock) {
    var queue = QueueName.of("script-" + ++queues);
    provider.declare(
        queue, QueueSettings.ordered().withLockDuration(lock).withMaxDeliveryCount(MAX_DELIVERIES));
    return new PostgresScript(provider, queue);
  }

  private static List<String> play(ScriptedStore store, List<Step> script) throws Exception {
    var play = new Played(store);
    for (var step : script) {
      play.run(step);
    }
    return play.outcomes;
  }

  /** Returns the messages that are left, as the next owner finds them. */
  private static List<Step> andTheRest(List<Step> script, String... owners) {
    var all = new ArrayList<>(script);
    for (var owner : owners) {
      all.add(close(owner));
    }
    for (int i = 0; i < 2; i++) {
      all.add(accept("last", Duration.ZERO));
      all.add(receive("last", 10));
      all.add(state("last"));
      for (int k = 0; k < 4; k++) {
        all.add(settle("last", 0, Settlement.complete()));
      }
      all.add(close("last"));
    }
    return all;
  }

  /** Returns all orders in which the steps of two owners may come. */
  private static List<List<Step>> interleavings(List<Step> first, List<Step> second) {
    if (first.isEmpty() || second.isEmpty()) {
      var only = new ArrayList<>(first);
      only.addAll(second);
      return List.of(only);
    }
    var all = new ArrayList<List<Step>>();
    for (var head : List.of(first, second)) {
      var rests =
          head == first
              ? interleavings(first.subList(1, first.size()), second)
              : interleavings(first, second.subList(1, second.size()));
      for (var rest : rests) {
        var whole = new ArrayList<Step>();
        whole.add(head.get(0));
        whole.addAll(rest);
        all.add(whole);
      }
    }
    return all;
  }

  private static void assertSame(Duration lock, List<Step> script) throws Exception {
    var modelled = play(model(lock), script);

    assertThat(play(database(lock), script)).isEqualTo(modelled);
  }

  private static SessionState.Write write(String text, long version) {
    return new SessionState.Write(text.getBytes(UTF_8), version);
  }

  @Test
  void twoOwnersOfOneSession() throws Exception {
    var first =
        List.of(
            accept("a", Duration.ZERO),
            receive("a", 2),
            settle("a", 0, Settlement.retryAfter(Duration.ZERO)),
            close("a"));
    var second =
        List.of(
            send("s", "m3", "m1"),
            accept("b", Duration.ZERO),
            receive("b", 2),
            settle("b", 0, Settlement.complete()));
    for (var script : interleavings(first, second)) {
      var all = new ArrayList<Step>();
      all.add(send("s", "m1", "m2"));
      all.addAll(script);
      assertSame(LONG, andTheRest(all, "a", "b"));
    }
  }

  @Test
  void settlementsOutOfOrderAndStatesOfAnotherVersion() throws Exception {
    var complete = Settlement.complete();
    var first =
        List.of(
            receive("a", 3),
            settle("a", 1, complete),
            settle("a", 0, complete, Optional.of(write("x", 0))));
    var second =
        List.of(
            settle("a", 0, complete, Optional.of(write("y", 7))),
            settle("a", 0, Settlement.deadLetter("of no use"), Optional.of(write("z", 1))));
    for (var script : interleavings(first, second)) {
      var all = new ArrayList<Step>();
      all.add(send("s", "m1", "m2", "m3"));
      all.add(accept("a", Duration.ZERO));
      all.addAll(script);
      assertSame(LONG, andTheRest(all, "a"));
    }
  }

  @Test
  void anOwnerWhoseLeaseExpired() throws Exception {
    var late =
        List.of(settle("a", 0, Settlement.complete()), renew("a"), receive("a", 1), close("a"));
    var next = List.of(receive("b", 1), settle("b", 0, Settlement.complete()));
    var scripts = interleavings(late.subList(0, 2), next);
    scripts = new ArrayList<>(scripts);
    scripts.add(concat(late.subList(2, 4), next));
    for (var script : scripts) {
      var all = new ArrayList<Step>();
      all.add(send("s", "m1", "m2"));
      all.add(accept("a", Duration.ZERO));
      all.add(receive("a", 2));
      all.add(accept("b", LONG));
      all.addAll(script);
      all.add(close("b"));
      assertSame(ScriptedStore.SHORT, andTheRest(all));
    }
  }

  private static List<Step> concat(List<Step> first, List<Step> second) {
    var all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  @Test
  void aModelWithABugDiffers() throws Exception {
    var script =
        List.of(
            send("s", "m1", "m2"),
            accept("a", Duration.ZERO),
            receive("a", 2),
            settle("a", 0, Settlement.retryAfter(Duration.ZERO)),
            receive("a", 2));

    assertThat(play(database(LONG), script))
        .isNotEqualTo(play(model(LONG, Bug.RETRY_TO_TAIL), script))
        .isEqualTo(play(model(LONG), script));
  }
}
