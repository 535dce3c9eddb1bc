package dev.sessionkeeper.server.http;

import java.time.Duration;
import java.util.Optional;

/** The output of a streamed response. Used by the request's own thread only. */
public interface ResponseStream {

  /**
   * Writes and flushes, and returns when the socket has taken the bytes. So a slow reader blocks
   * the writer instead of filling memory.
   *
   * @return false if the socket did not take them within the patience; the stream is then closed,
   *     because half an event may have been sent
   * @throws ClientGone if the client has closed its connection; the bytes then count as not written
   */
  boolean write(byte[] bytes, Duration patience) throws InterruptedException;

  /**
   * Writes as {@link #write(byte[], Duration)} does. If the reader is too slow or the server shuts
   * down, appends the last bytes. If the reader does not take those either, the connection is
   * closed.
   */
  boolean write(byte[] bytes, Duration patience, byte[] lastWords) throws InterruptedException;

  /**
   * Reserves memory for what the writer reads and writes next, in place of what it has reserved
   * before; 0 releases it. Waits while other streams hold the memory.
   *
   * @return false if there was none within the patience, or the stream has closed
   */
  boolean reserve(long bytes, Duration patience) throws InterruptedException;

  /**
   * Waits for something while the client is connected.
   *
   * @return empty if the server shuts down
   * @throws ClientGone as soon as the client has closed its connection
   */
  <T> Optional<T> await(Wait<T> wait) throws Exception;

  /** Returns whether the client is connected and the server is not shutting down. */
  boolean isOpen();

  /** A blocking call that can be interrupted. */
  @FunctionalInterface
  interface Wait<T> {
    T call() throws Exception;
  }
}
