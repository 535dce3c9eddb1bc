package dev.sessionkeeper.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a {@code String} parameter that takes a property of the message. */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Property {

  /** The name of the property. */
  String value();

  /**
   * Returns whether a message without the property becomes a dead letter; otherwise the parameter
   * is null.
   */
  boolean required() default true;
}
