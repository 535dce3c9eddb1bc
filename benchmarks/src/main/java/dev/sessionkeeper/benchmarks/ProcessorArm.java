package dev.sessionkeeper.benchmarks;

import dev.sessionkeeper.Message;
import dev.sessionkeeper.MessageId;
import dev.sessionkeeper.Owner;
import dev.sessionkeeper.Payload;
import dev.sessionkeeper.QueueName;
import dev.sessionkeeper.QueueSettings;
import dev.sessionkeeper.SessionId;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.memory.MemoryQueueProvider;
import dev.sessionkeeper.processor.MessageHandler;
import dev.sessionkeeper.processor.SessionProcessor;
import dev.sessionkeeper.spi.AcceptResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/** The memory provider through the full processor: leases, settlement, fairness, renewal. */
final class ProcessorArm implements Arm {
  private static final QueueName QUEUE = QueueName.of("bench");
  private static final int BATCH = 100;

  private final String name;
  private final int slots;
  private final int perHold;
  private final ThreadFactory threads;

  ProcessorArm(String name, int slots, int perHold, ThreadFactory threads) {
    this.name = name;
    this.slots = slots;
    this.perHold = perHold;
    this.threads = threads;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Took run(Load load) {
    var counted = new LongAdder();
    MessageHandler handler =
        (delivery, session) -> {
          counted.increment();
          return Settlement.complete();
        };
    try (var provider = MemoryQueueProvider.create()) {
      provider.declare(QUEUE, QueueSettings.ordered().withDuplicateWindow(Duration.ZERO));
      var batches = batches(load);
      var processor =
          SessionProcessor.builder(provider, QUEUE, handler)
              .maxConcurrentSessions(slots)
              .maxMessagesPerHold(perHold)
              .threads(threads)
              .build();
      if (!load.together()) {
        batches.forEach(batch -> provider.send(QUEUE, batch));
      }
      System.gc();
      var started = Took.now();
      processor.start();
      if (load.together()) {
        batches.forEach(batch -> provider.send(QUEUE, batch));
      }
      while (counted.sum() < load.messages()) {
        LockSupport.parkNanos(200_000);
      }
      var took = started.since();
      processor.close();
      if (counted.sum() != load.messages() || provider.stats(QUEUE).depth() != 0) {
        throw new IllegalStateException("Handled " + counted.sum() + " of " + load.messages());
      }
      return took.with(holds(provider));
    }
  }

  /**
   * Returns how many holds there were: epochs count the holds of a queue from one, so the next
   * epoch tells.
   */
  private static long holds(MemoryQueueProvider provider) {
    var session = SessionId.of("the-next");
    provider.send(QUEUE, List.of(Message.of(session, Payload.empty())));
    return accept(provider, session) - 1;
  }

  private static long accept(MemoryQueueProvider provider, SessionId session) {
    try {
      var result = provider.sessions(QUEUE).accept(session, Owner.of("count"), Duration.ZERO);
      if (result instanceof AcceptResult.Accepted accepted) {
        return accepted.session().lease().epoch();
      }
      throw new IllegalStateException("Session " + session + " is not free: " + result);
    } catch (InterruptedException e) {
      throw new IllegalStateException("A call that does not wait was interrupted", e);
    }
  }

  /**
   * Creates a message without the random id that it gets by default, because creating that id takes
   * longer than the rest.
   */
  private static Message message(int number, SessionId session, Payload payload) {
    return new Message(
        MessageId.of("m" + number),
        Optional.of(session),
        payload,
        Map.of(),
        Optional.empty(),
        Optional.empty());
  }

  private static List<List<Message>> batches(Load load) {
    var ids = new SessionId[load.sessions()];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = SessionId.of("session-" + i);
    }
    var payload = Payload.bytes(new byte[256], "application/octet-stream");
    var batches = new ArrayList<List<Message>>();
    for (int at = 0; at < load.messages(); at += BATCH) {
      var batch = new ArrayList<Message>(BATCH);
      for (int i = at; i < Math.min(at + BATCH, load.messages()); i++) {
        batch.add(message(i, ids[i % ids.length], payload));
      }
      batches.add(batch);
    }
    return batches;
  }
}
