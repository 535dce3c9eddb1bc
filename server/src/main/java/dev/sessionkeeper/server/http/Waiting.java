package dev.sessionkeeper.server.http;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Ends a request's wait when nobody listens any more.
 *
 * <p>Two threads meet here: the request's own, and the event loop that learns of the end. I1: the
 * thread is interrupted only while it is inside {@link #await}, and leaves it with a clear
 * interrupt flag.
 */
final class Waiting {
  private final ReentrantLock lock = new ReentrantLock();
  private @Nullable Thread waiter;
  private boolean clientGone;
  private boolean draining;

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
      // An interrupt may surface as a broken connection to the store. It tells nothing new.
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

  boolean isClientGone() {
    lock.lock();
    try {
      return clientGone;
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
      if (draining) {
        return false;
      }
      waiter = Thread.currentThread();
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Whether the wait was ended from outside, by the drain. */
  private boolean leave() {
    leaveQuietly();
    lock.lock();
    try {
      if (clientGone) {
        throw new ClientGone();
      }
      return draining;
    } finally {
      lock.unlock();
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
