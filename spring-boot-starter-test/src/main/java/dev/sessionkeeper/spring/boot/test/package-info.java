/** A test slice for session listeners. */
@NullMarked
package dev.sessionkeeper.spring.boot.test;

import org.jspecify.annotations.NullMarked;
