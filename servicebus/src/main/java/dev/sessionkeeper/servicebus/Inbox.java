package dev.sessionkeeper.servicebus;

import com.azure.messaging.servicebus.ServiceBusReceivedMessage;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/**
 * The messages that a receiver has got and no handler has taken yet, in order.
 *
 * <p>The SDK's blocking receivers wait a second for a second message, so this class requests
 * messages itself: credit is given only for the wanted number, and stays until it is used.
 */
final class Inbox extends BaseSubscriber<ServiceBusReceivedMessage> {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final ArrayDeque<ServiceBusReceivedMessage> messages = new ArrayDeque<>();
  private int asked;
  private boolean ended;
  private boolean lockEnded;
  private @Nullable Runnable onEnd;

  /** Runs the action once when the receiver has ended, or at once if it has. */
  void onEnd(Runnable action) {
    boolean now;
    lock.lock();
    try {
      onEnd = action;
      now = ended;
    } finally {
      lock.unlock();
    }
    if (now) {
      action.run();
    }
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    // No credit is given before a caller waits.
  }

  /** Gives credit until this many messages are here or on their way. */
  void want(int count) {
    int more;
    lock.lock();
    try {
      more = ended ? 0 : count - asked - messages.size();
      if (more > 0) {
        asked += more;
      }
    } finally {
      lock.unlock();
    }
    if (more > 0) {
      request(more);
    }
  }

  @Override
  protected void hookOnNext(ServiceBusReceivedMessage message) {
    lock.lock();
    try {
      asked--;
      messages.add(message);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected void hookOnError(Throwable failure) {
    lock.lock();
    try {
      lockEnded = !ended && Translate.isLockEnd(failure);
    } finally {
      lock.unlock();
    }
    end();
  }

  /** Ends the inbox, because the broker refused a request for a lost lock. */
  void endOfLock() {
    lock.lock();
    try {
      lockEnded |= !ended;
    } finally {
      lock.unlock();
    }
    cancel();
  }

  /**
   * Returns whether the broker has ended the lock. Its answers come in order, so a settlement that
   * it had not answered before did not take effect.
   */
  boolean hasLockEnded() {
    lock.lock();
    try {
      return lockEnded;
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected void hookOnComplete() {
    end();
  }

  @Override
  protected void hookOnCancel() {
    end();
  }

  private void end() {
    Runnable action;
    lock.lock();
    try {
      action = ended ? null : onEnd;
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (action != null) {
      action.run();
    }
  }

  boolean isEnded() {
    lock.lock();
    try {
      return ended;
    } finally {
      lock.unlock();
    }
  }

  boolean isEmpty() {
    lock.lock();
    try {
      return messages.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Returns the next message without taking it, and waits for it. Gives up when the receiver has
   * ended.
   */
  Optional<ServiceBusReceivedMessage> peek(Duration wait) throws InterruptedException {
    lock.lock();
    try {
      long left = wait.toNanos();
      while (messages.isEmpty() && !ended && left > 0) {
        left = changed.awaitNanos(left);
      }
      return Optional.ofNullable(messages.peek());
    } finally {
      lock.unlock();
    }
  }

  /** Waits until this many messages are here, or none has arrived for a moment. */
  void gather(int count, Duration moment) throws InterruptedException {
    lock.lock();
    try {
      int here = messages.size();
      long left = moment.toNanos();
      while (messages.size() < count && !ended && left > 0) {
        left = changed.awaitNanos(left);
        if (messages.size() > here) {
          here = messages.size();
          left = moment.toNanos();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Returns the next message if it is here, without taking it. */
  Optional<ServiceBusReceivedMessage> first() {
    lock.lock();
    try {
      return Optional.ofNullable(messages.peek());
    } finally {
      lock.unlock();
    }
  }

  /** Puts taken messages back before the others, in order. */
  void putBack(List<ServiceBusReceivedMessage> taken) {
    lock.lock();
    try {
      for (var message : taken.reversed()) {
        messages.addFirst(message);
      }
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  Optional<ServiceBusReceivedMessage> poll() {
    lock.lock();
    try {
      return Optional.ofNullable(messages.poll());
    } finally {
      lock.unlock();
    }
  }
}
