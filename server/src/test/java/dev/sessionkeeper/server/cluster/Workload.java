package dev.sessionkeeper.server.cluster;

import dev.sessionkeeper.Delivery;
import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.client.KeeperClient;
import dev.sessionkeeper.client.LeaseClient;
import dev.sessionkeeper.client.ProblemException;
import dev.sessionkeeper.client.QueueClient;
import dev.sessionkeeper.client.QueueClient.Outgoing;
import dev.sessionkeeper.testkit.History;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Producers, consumers and an operator of one queue, over HTTP, who record what they see. */
final class Workload {
  private static final String[] ACTS = {"pause", "park", "release"};

  private final String queue;
  private final List<String> sessions;
  private final History history = new History();
  private final AtomicBoolean isSending = new AtomicBoolean(true);
  private final AtomicBoolean isConsuming = new AtomicBoolean(true);
  private final Set<String> actedOn = ConcurrentHashMap.newKeySet();
  private final Set<String> lost = ConcurrentHashMap.newKeySet();
  private final AtomicInteger sent = new AtomicInteger();
  private final AtomicInteger unknown = new AtomicInteger();
  private final AtomicInteger acts = new AtomicInteger();
  private final Set<MessageId> completed = ConcurrentHashMap.newKeySet();

  Workload(String queue, List<String> sessions) {
    this.queue = queue;
    this.sessions = sessions;
  }

  History history() {
    return history;
  }

  int sent() {
    return sent.get();
  }

  int completed() {
    return completed.size();
  }

  int acts() {
    return acts.get();
  }

  /** Returns how many calls ended with an unknown outcome. */
  int unknown() {
    return unknown.get();
  }

  /** Returns sessions whose owner lost them although no operator had acted on them. */
  Set<String> lostWithoutReason() {
    var without = ConcurrentHashMap.<String>newKeySet();
    without.addAll(lost);
    without.removeAll(actedOn);
    return without;
  }

  void stopSending() {
    isSending.set(false);
  }

  void stopConsuming() {
    isConsuming.set(false);
  }

  /**
   * Sends to every n-th session, so that each session has one producer; repeats calls without an
   * answer.
   */
  void produce(KeeperClient client, int first, int step) {
    var random = new Random(first);
    for (int round = 0; isSending.get(); round++) {
      for (int i = first; i < sessions.size(); i += step) {
        var batch = new ArrayList<Outgoing>();
        for (int n = 0; n <= random.nextInt(3); n++) {
          var id = sessions.get(i) + "#" + round + "." + n;
          batch.add(Outgoing.text(sessions.get(i), id).withId(id));
        }
        send(client.queue(queue), SessionId.of(sessions.get(i)), batch);
      }
    }
  }

  private void send(QueueClient to, SessionId session, List<Outgoing> batch) {
    while (true) {
      try {
        for (var each : to.send(batch)) {
          // A duplicate was stored by an earlier attempt whose answer was lost.
          history.sent(
              session, new SendOutcome.Stored(MessageId.of(each.messageId()), each.sequence()));
          sent.incrementAndGet();
        }
        return;
      } catch (KeeperException.OutcomeUnknown e) {
        unknown.incrementAndGet();
      } catch (KeeperException.Unavailable | ProblemException e) {
        requireTransient(e);
      }
    }
  }

  void consume(KeeperClient client, String name) {
    var random = new Random(name.hashCode());
    while (isConsuming.get()) {
      try {
        client
            .queue(queue)
            .acceptNext(name, Duration.ofMillis(500))
            .ifPresent(lease -> serve(lease, random));
      } catch (KeeperException.OutcomeUnknown e) {
        unknown.incrementAndGet(); // A session may have been accepted without an answer; its lease
        // will expire.
      } catch (KeeperException.Unavailable | ProblemException e) {
        requireTransient(e);
      }
    }
  }

  private void serve(LeaseClient lease, Random random) {
    try (lease) {
      for (int round = 0; round < 3; round++) {
        for (var message : lease.receive(4, Duration.ZERO)) {
          if (!handle(lease, message, random)) {
            return;
          }
        }
      }
    } catch (ProblemException e) {
      if (!e.is("session-lock-lost")) {
        throw e;
      }
      lost.add(lease.sessionId());
      history.lost(SessionId.of(lease.sessionId()), lease.epoch());
    }
  }

  /** Returns whether the next message may follow. */
  private boolean handle(LeaseClient lease, LeaseClient.Received message, Random random) {
    var session = SessionId.of(lease.sessionId());
    var delivery = delivery(session, message);
    boolean fails = random.nextInt(20) == 0;
    var settlement =
        fails ? Settlement.retryAfter(Duration.ofMillis(50), "on purpose") : Settlement.complete();
    history.started(session, lease.epoch(), delivery);
    history.ended(session, lease.epoch(), delivery, settlement);
    var confirm =
        history.settling(session, lease.epoch(), delivery.id(), message.sequence(), settlement);
    try {
      if (fails) {
        lease.retry(message, Duration.ofMillis(50), "on purpose");
      } else {
        lease.complete(List.of(message));
      }
    } catch (KeeperException.OutcomeUnknown e) {
      completed.add(delivery.id()); // If the message was not settled, another owner completes it.
      throw e;
    }
    confirm.run();
    if (!fails) {
      completed.add(delivery.id());
    }
    return !fails;
  }

  private static Delivery delivery(SessionId session, LeaseClient.Received message) {
    var sent =
        new Message(
            MessageId.of(message.messageId()),
            Optional.of(session),
            Payload.text(message.body().asString()),
            java.util.Map.of(),
            Optional.empty(),
            Optional.empty());
    return new Delivery(sent, message.sequence(), message.attempt(), Instant.EPOCH);
  }

  /** Acts on a few sessions, through any server that answers, and reverts the act. */
  void operate(KeeperClient client) {
    var random = new Random(7);
    for (int i = 0; isSending.get(); i++) {
      var session = sessions.get(random.nextInt(sessions.size() / 4));
      actedOn.add(session);
      act(client, session, ACTS[i % ACTS.length]);
      act(client, session, "resume");
    }
  }

  private void act(KeeperClient client, String session, String act) {
    while (true) {
      try {
        client.queue(queue).act(session, act, "the test");
        acts.incrementAndGet();
        return;
      } catch (KeeperException.OutcomeUnknown e) {
        unknown.incrementAndGet(); // All acts may be repeated.
      } catch (KeeperException.Unavailable | ProblemException e) {
        requireTransient(e);
      }
    }
  }

  /** Fails the test unless the error can be explained by a server that is away for a moment. */
  private static void requireTransient(RuntimeException failure) {
    if (failure instanceof ProblemException problem && problem.status() != 503) {
      throw problem;
    }
  }
}
