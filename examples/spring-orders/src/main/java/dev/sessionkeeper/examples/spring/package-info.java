/** A shop on Spring Boot: orders of each customer are shipped and booked in order. */
@NullMarked
package dev.sessionkeeper.examples.spring;

import org.jspecify.annotations.NullMarked;
