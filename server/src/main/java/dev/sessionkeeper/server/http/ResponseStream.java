package dev.sessionkeeper.server.http;

import java.time.Duration;
import java.util.Optional;

/** The open end of a streamed answer. Used by the request's own thread only. */
public interface ResponseStream {

  /**
   * Writes and flushes, and returns when the socket has taken the bytes: a slow reader holds the
   * writer, never memory.
   *
   * @return false when the socket did not take them in the time given; the stream is then closed,
   *     for half an event may be on its way
   * @throws ClientGone if the client has closed its connection; the bytes then count as not written
   */
  boolean write(byte[] bytes, Duration patience) throws InterruptedException;

  /**
   * As {@link #write(byte[], Duration)}, but a reader that did not take the bytes in time, or when
   * the server shuts down, gets some last words behind them. If it does not take those either, the
   * connection is cut.
   */
  boolean write(byte[] bytes, Duration patience, byte[] lastWords) throws InterruptedException;

  /**
   * Waits for something, as long as the client listens.
   *
   * @return empty when the server shuts down
   * @throws ClientGone as soon as the client has closed its connection
   */
  <T> Optional<T> await(Wait<T> wait) throws Exception;

  /** Returns whether the client still listens and the server is not shutting down. */
  boolean isOpen();

  /** A call that waits and can be interrupted. */
  @FunctionalInterface
  interface Wait<T> {
    T call() throws Exception;
  }
}
