package dev.sessionkeeper.server.http;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends the wait of a request whose client has disconnected.
 *
 * <p>Two threads use it: the request's own, and the event loop that notices the disconnect. I1: the
 * thread is interrupted only while it is inside {@link #await}, and leaves it with a clear
 * interrupt flag.
 */
final class Waiting {
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Thread waiter;
  private @Nullable Problem refusal;
  private boolean clientGone;
  private boolean draining;
  private boolean hasWaited;

  <T> Optional<T> await(ResponseStream.Wait<T> wait) throws Exception {
    if (!enter()) {
      return Optional.empty();
    }
    try {
      return Optional.of(wait.call());
    } catch (InterruptedException e) {
      if (leave()) {
        return Optional.empty();
      }
      throw e;
    } catch (RuntimeException e) {
      // An interrupt may surface as a broken connection to the store; the cause is known already.
      if (leave()) {
        return Optional.empty();
      }
      throw e;
    } finally {
      leaveQuietly();
    }
  }

  boolean isOpen() {
    lock.lock();
    try {
      return !clientGone && !draining;
    } finally {
      lock.unlock();
    }
  }

  /** Ends the wait with a refusal, because the caller may no longer call. */
  void refuse(Problem problem) {
    lock.lock();
    try {
      refusal = problem;
      interrupt();
    } finally {
      lock.unlock();
    }
  }

  /** Returns why the caller may no longer call. */
  Optional<Problem> refusal() {
    lock.lock();
    try {
      return Optional.ofNullable(refusal);
    } finally {
      lock.unlock();
    }
  }

  /** Returns why the result of a wait must not be returned any more. */
  Optional<Problem> refusalOfResult() {
    lock.lock();
    try {
      return hasWaited ? Optional.ofNullable(refusal) : Optional.empty();
    } finally {
      lock.unlock();
    }
  }

  void clientGone() {
    lock.lock();
    try {
      clientGone = true;
      interrupt();
    } finally {
      lock.unlock();
    }
  }

  void drain() {
    lock.lock();
    try {
      draining = true;
      interrupt();
    } finally {
      lock.unlock();
    }
  }

  private void interrupt() {
    if (waiter != null) {
      waiter.interrupt();
    }
  }

  private boolean enter() {
    lock.lock();
    try {
      if (clientGone) {
        throw new ClientGone();
      }
      hasWaited = true;
      throwRefusal();
      if (draining) {
        return false;
      }
      waiter = Thread.currentThread();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Returns whether the drain ended the wait. */
  private boolean leave() {
    leaveQuietly();
    lock.lock();
    try {
      if (clientGone) {
        throw new ClientGone();
      }
      throwRefusal();
      return draining;
    } finally {
      lock.unlock();
    }
  }

  private void throwRefusal() {
    if (refusal != null) {
      throw refusal.toException();
    }
  }

  private void leaveQuietly() {
    lock.lock();
    try {
      if (waiter != null) {
        waiter = null;
        Thread.interrupted();
      }
    } finally {
      lock.unlock();
    }
  }
}
