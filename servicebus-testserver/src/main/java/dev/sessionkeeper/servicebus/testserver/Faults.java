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

  /** Cuts every connection, without a farewell. */
  public void dropConnections() {
    loop()
        .call(
            () -> {
              loop().eachConnection(ClientConnection::drop);
              return true;
            });
  }

  /**
   * Ends the locks of all held sessions of a queue, as if their time were over.
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

  /** Lets every byte to the clients arrive this much later; zero ends it. */
  public void delayReplies(Duration delay) {
    replyDelayMillis = delay.toMillis();
  }

  /** The next transfers are stored twice, as by a producer that sends again. */
  public void duplicateSends(int count) {
    duplicateSends.set(count);
  }

  /** The next transfers are stored, and the connection is cut before the client learns of it. */
  public void loseAcknowledgements(int count) {
    lostAcknowledgements.set(count);
  }

  /** The next settlements take effect, and the connection is cut before the client learns of it. */
  public void loseSettlements(int count) {
    lostSettlements.set(count);
  }

  /**
   * The next management requests of this operation take effect, and the connection is cut before
   * the client learns of it.
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
