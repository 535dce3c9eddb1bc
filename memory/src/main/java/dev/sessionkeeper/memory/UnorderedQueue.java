package dev.sessionkeeper.memory;

import dev.sessionkeeper.KeeperException;
import dev.sessionkeeper.Message;
import dev.sessionkeeper.SendOutcome;
import dev.sessionkeeper.Settlement;
import dev.sessionkeeper.spi.BatchLimit;
import dev.sessionkeeper.spi.DeadLetterQueues.Selection;
import dev.sessionkeeper.spi.MessageSource;
import dev.sessionkeeper.spi.QueueStats;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;

/** A queue without sessions: each message is locked on its own. */
final class UnorderedQueue implements MemoryQueue, MessageSource {
  private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
  private static final Settlement.Retry LOCK_RAN_OUT =
      new Settlement.Retry(
          Duration.ZERO, true, true, "the lock ran out before the message was settled");

  private final QueueBooks books;
  private final Ticks ticks;
  private final ReentrantLock lock = new ReentrantLock();
  private final UnorderedMessages messages;
  private final WaitList receivers = new WaitList();
  private boolean closed;

  UnorderedQueue(QueueBooks books) {
    this.books = books;
    this.ticks = books.ticks;
    this.messages = new UnorderedMessages(ticks, lock, this::runDue);
  }

  @Override
  public QueueBooks books() {
    return books;
  }

  @Override
  public List<SendOutcome> send(List<Message> batch) {
    return books.take(batch, this::store);
  }

  @Override
  public int replay(Selection selection) {
    return books.replay(selection, this::store);
  }

  private void store(Stored stored, long now) {
    lock.lock();
    try {
      place(messages.add(stored), now);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public List<Receipted> receive(int max, Duration wait) throws InterruptedException {
    return receive(BatchLimit.of(max), wait);
  }

  @Override
  public List<Receipted> receive(BatchLimit limit, Duration wait) throws InterruptedException {
    var batch = receiveNow(limit);
    if (!batch.isEmpty() || wait.isZero()) {
      return batch;
    }
    try (var waiter = new Waiter(ticks, wait)) {
      try {
        while (batch.isEmpty() && !waiter.isTimedOut()) {
          if (queueUp(waiter)) {
            waiter.await();
          }
          batch = receiveNow(limit);
        }
        return batch;
      } finally {
        leave(waiter, batch.isEmpty());
      }
    }
  }

  private boolean queueUp(Waiter waiter) {
    lock.lock();
    try {
      if (closed || messages.hasReady()) {
        return false;
      }
      receivers.add(waiter);
      return true;
    } finally {
      lock.unlock();
    }
  }

  private void leave(Waiter waiter, boolean wakeAnother) {
    lock.lock();
    try {
      receivers.remove(waiter);
      if (wakeAnother && messages.hasReady()) {
        receivers.wakeOne();
      }
    } finally {
      lock.unlock();
    }
  }

  private List<Receipted> receiveNow(BatchLimit limit) {
    lock.lock();
    try {
      requireOpen();
      long now = ticks.now();
      lookAtDue(now);
      var duration = books.settings().lockDuration();
      var until = ticks.instant().plus(duration);
      long end = Ticks.later(now, duration);
      var batch = new ArrayList<Receipted>();
      long bytes = 0;
      while (batch.size() < limit.messages() && messages.hasReady()) {
        var next = messages.takeReady();
        int size = next.stored.size();
        if (next.stored.expiresAt <= now) {
          setAside(next, next.stored.attempts, SettleMessages.EXPIRED, next.stored.lastError());
        } else if (!limit.hasRoomFor(size, batch.size(), bytes)) {
          messages.putBack(next);
          break;
        } else {
          bytes += size;
          batch.add(new Receipted(next.stored.delivery(), messages.lock(next, end), until));
        }
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public CompletionStage<Void> settle(String receipt, Settlement settlement) {
    lock.lock();
    try {
      long now = ticks.now();
      var message = messages.locked(receipt, now);
      messages.unlock(message);
      apply(message, settlement, now);
      return DONE;
    } catch (KeeperException e) {
      return CompletableFuture.failedFuture(e);
    } finally {
      lock.unlock();
    }
  }

  private void apply(UnorderedMessages.UnorderedMessage message, Settlement settlement, long now) {
    switch (settlement) {
      case Settlement.Complete complete -> complete(message);
      case Settlement.Retry retry -> {
        message.stored.dueAt = Ticks.later(now, retry.delay());
        if (retry.counted()) {
          failed(message, retry, now);
        } else {
          message.stored.trouble = new Stored.Trouble(retry.reason(), ticks.instant());
          place(message, now);
        }
      }
      case Settlement.DeadLetter letter -> deadLetter(message, letter, 1);
      // There is no session to park, so only the message is set aside.
      case Settlement.Park park ->
          setAside(message, message.stored.attempts + 1, park.reason(), message.stored.lastError());
    }
  }

  private void failed(
      UnorderedMessages.UnorderedMessage message, Settlement.Retry retry, long now) {
    message.stored.attempts++;
    message.stored.trouble = new Stored.Trouble(retry.reason(), ticks.instant());
    switch (books.settings().settlementAfter(message.stored.attempts, retry)) {
      case Settlement.Complete complete -> complete(message);
      case Settlement.DeadLetter letter -> deadLetter(message, letter, 0);
      case Settlement.Park park -> throw new IllegalStateException("Nothing to park: " + park);
      case Settlement.Retry again -> place(message, now);
    }
  }

  private void complete(UnorderedMessages.UnorderedMessage message) {
    messages.forget(message);
    books.left();
  }

  private void deadLetter(
      UnorderedMessages.UnorderedMessage message, Settlement.DeadLetter letter, int more) {
    var error = SettleMessages.errorOf(letter, message.stored);
    setAside(message, message.stored.attempts + more, letter.reason(), error);
  }

  private void setAside(
      UnorderedMessages.UnorderedMessage message, int attempts, String reason, String lastError) {
    messages.forget(message);
    books.setAside(message.stored, attempts, reason, lastError);
  }

  private void place(UnorderedMessages.UnorderedMessage message, long now) {
    if (messages.place(message, now)) {
      receivers.wakeOne();
    }
  }

  @Override
  public Instant renew(String receipt) {
    lock.lock();
    try {
      long now = ticks.now();
      var duration = books.settings().lockDuration();
      messages.extend(messages.locked(receipt, now), Ticks.later(now, duration));
      return ticks.instant().plus(duration);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void runDue() {
    lock.lock();
    try {
      lookAtDue(ticks.now());
    } finally {
      lock.unlock();
    }
  }

  private void lookAtDue(long now) {
    for (var message : messages.takeDue(now)) {
      if (messages.isLocked(message)) {
        if (message.lockEnd > now) {
          messages.extend(message, message.lockEnd);
        } else {
          messages.unlock(message);
          failed(message, LOCK_RAN_OUT, now);
        }
      } else if (message.stored.expiresAt <= now) {
        setAside(
            message, message.stored.attempts, SettleMessages.EXPIRED, message.stored.lastError());
      } else {
        place(message, now);
      }
    }
  }

  @Override
  public QueueStats stats() {
    lock.lock();
    try {
      lookAtDue(ticks.now());
      return new QueueStats(
          books.depth(),
          messages.readyCount(),
          messages.lockedCount(),
          books.shelf.size(),
          messages
              .oldestSentAt()
              .map(at -> Duration.between(at, ticks.instant()))
              .orElse(Duration.ZERO));
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long purge() {
    lock.lock();
    try {
      var all = messages.all();
      for (var message : all) {
        if (messages.isLocked(message)) {
          messages.unlock(message);
        }
        messages.forget(message);
        books.left();
      }
      return all.size();
    } finally {
      lock.unlock();
    }
  }

  private void requireOpen() {
    if (closed) {
      throw books.ended();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      receivers.wakeAll();
      messages.close();
    } finally {
      lock.unlock();
    }
  }
}
