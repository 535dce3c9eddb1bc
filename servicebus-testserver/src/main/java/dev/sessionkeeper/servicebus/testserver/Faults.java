package dev.sessionkeeper.servicebus.testserver;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The faults that a test can switch on. Safe for any thread; every call has taken effect when it
 * returns.
 */
public final class Faults {
  private final Broker broker;
  private final AtomicInteger duplicateSends = new AtomicInteger();
  private final AtomicInteger lostAcknowledgements = new AtomicInteger();
  private final AtomicInteger lostSettlements = new AtomicInteger();
  private final Map<String, AtomicInteger> lostReplies = new ConcurrentHashMap<>();
  private volatile long replyDelayMillis;
  private @Nullable EventLoop loop;

  Faults(Broker broker) {
    this.broker = broker;
  }

  void on(EventLoop eventLoop) {
    loop = eventLoop;
  }

  /** Cuts every connection at once. */
  public void dropConnections() {
    loop()
        .call(
            () -> {
              loop().eachConnection(ClientConnection::drop);
              return true;
            });
  }

  /**
   * Ends the locks of all held sessions of a queue, as if they had expired.
   *
   * @return how many were held
   */
  public int expireSessionLocks(String queue) {
    return loop()
        .call(
            () -> {
              int expired = 0;
              for (var session : broker.find(queue).orElseThrow().sessions()) {
                var holder = session.holder;
                if (holder != null) {
                  holder.expire();
                  expired++;
                }
              }
              return expired;
            });
  }

  /** Delays every byte to the clients by this time; zero ends the delay. */
  public void delayReplies(Duration delay) {
    replyDelayMillis = delay.toMillis();
  }

  /** Stores the next transfers twice, as if the producer had sent them again. */
  public void duplicateSends(int count) {
    duplicateSends.set(count);
  }

  /** Stores the next transfers, and cuts the connection before the client learns of it. */
  public void loseAcknowledgements(int count) {
    lostAcknowledgements.set(count);
  }

  /** Applies the next settlements, and cuts the connection before the client learns of it. */
  public void loseSettlements(int count) {
    lostSettlements.set(count);
  }

  /**
   * Executes the next management requests of this operation, and cuts the connection before the
   * client learns of it.
   *
   * @param operation such as {@code com.microsoft:set-session-state}
   */
  public void loseReplies(String operation, int count) {
    lostReplies.put(operation, new AtomicInteger(count));
  }

  boolean takeLostSettlement() {
    return take(lostSettlements);
  }

  boolean takeLostReply(String operation) {
    return take(lostReplies.computeIfAbsent(operation, unseen -> new AtomicInteger()));
  }

  private static boolean take(AtomicInteger counter) {
    return counter.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
  }

  long replyDelayMillis() {
    return replyDelayMillis;
  }

  boolean takeDuplicateSend() {
    return take(duplicateSends);
  }

  boolean takeLostAcknowledgement() {
    return take(lostAcknowledgements);
  }

  private EventLoop loop() {
    if (loop == null) {
      throw new IllegalStateException("The server is not started");
    }
    return loop;
  }
}
