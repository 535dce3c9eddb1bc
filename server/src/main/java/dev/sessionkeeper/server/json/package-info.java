/**
 * Strict parsing and writing of JSON: nothing is coerced, and all bad fields are reported at once.
 */
@NullMarked
package dev.sessionkeeper.server.json;

import org.jspecify.annotations.NullMarked;
