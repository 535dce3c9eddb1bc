/**
 * Listeners, a template and transactions for Spring Framework. {@code sessionkeeper-spring-boot}
 * wires them from properties.
 */
@NullMarked
package dev.sessionkeeper.spring;

import org.jspecify.annotations.NullMarked;
