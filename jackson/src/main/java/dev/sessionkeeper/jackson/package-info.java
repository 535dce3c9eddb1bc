/** Payloads as JSON, read and written by Jackson 3. */
@NullMarked
package dev.sessionkeeper.jackson;

import org.jspecify.annotations.NullMarked;
