package dev.sessionkeeper.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Marks a method that handles the messages of a queue: sessions in parallel, messages of a session
 * in order.
 *
 * <p>Parameters, in any order: one payload ({@code String}, {@code byte[]} or a type that Jackson
 * reads), {@link dev.sessionkeeper.processor.SessionContext}, {@link dev.sessionkeeper.Delivery},
 * {@link dev.sessionkeeper.SessionId} and {@link Property} values. A body that cannot be read
 * becomes a dead letter at once.
 *
 * <p>A method that returns completes its message; one that throws has failed. A method may return a
 * {@link dev.sessionkeeper.Settlement} instead, or a stage of one.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective(SessionListenerHints.class)
public @interface SessionListener {

  /** Returns the queue; placeholders such as {@code ${orders.queue}} are resolved. */
  String queue();

  /**
   * Returns the name of the listener in health, metrics and actuator. The default is bean and
   * method.
   */
  String id() default "";

  /** Returns how many sessions are handled at once; a number or a placeholder. */
  String concurrency() default "";

  /**
   * Returns whether the method runs in a Spring transaction that commits together with the
   * settlement of its message. Needs queues in PostgreSQL, on the application's {@code DataSource}.
   */
  boolean transactional() default false;

  /**
   * Returns the most messages of one session in one call; a number or a placeholder. The payload is
   * then a {@code List}, and the method may return a {@link
   * dev.sessionkeeper.processor.BatchSettlement}.
   */
  String batch() default "";

  /** Returns whether the listener starts with the application; a boolean or a placeholder. */
  String autoStartup() default "";
}
