package dev.sessionkeeper.server.http;

import java.util.Locale;

/**
 * The part of the server that a route is about. Every route declares its scope, and {@link
 * CheckAccess} refuses each credential that is not bound to that part before the handler runs.
 */
public sealed interface Scope {

  /** No data of a tenant or queue: health, the API description, signed webhooks. */
  record Public() implements Scope {}

  /**
   * One queue.
   *
   * @param parameter the path parameter that names the queue
   */
  record Queue(String parameter) implements Scope {}

  /** Rows of several queues; the handler filters them by {@link Request#reach}. */
  record Queues() implements Scope {}

  /** Rows of tenants; the handler filters them by {@link Request#reach}. */
  record Tenant() implements Scope {}

  /**
   * One stream, named by the path parameter {@code stream}. A stream belongs to the whole server,
   * or to the tenant in its name ({@link Reach#includesStream}).
   */
  record Stream() implements Scope {}

  /** Rows of several streams, or of a stream of many tenants; filtered by {@link Request#reach}. */
  record Streams() implements Scope {}

  /**
   * The whole server.
   *
   * @param subject the subject of the refusal, such as {@code Jobs}
   */
  record Server(String subject) implements Scope {}

  static Scope open() {
    return new Public();
  }

  /** Returns the scope of one queue, named by the path parameter {@code queue}. */
  static Scope queue() {
    return new Queue("queue");
  }

  static Scope queues() {
    return new Queues();
  }

  static Scope tenant() {
    return new Tenant();
  }

  static Scope stream() {
    return new Stream();
  }

  static Scope streams() {
    return new Streams();
  }

  static Scope server(String subject) {
    return new Server(subject);
  }

  /** Returns whether the owner of the object is known only from a row or the body. */
  default boolean isDecidedByRows() {
    return switch (this) {
      case Queues queues -> true;
      case Tenant tenant -> true;
      case Public open -> false;
      case Queue queue -> false;
      case Stream stream -> false;
      case Streams streams -> true;
      case Server server -> false;
    };
  }

  /** Returns the word of the API description: {@code public}, {@code queue}, {@code tenant}, … */
  default String key() {
    return getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }
}
