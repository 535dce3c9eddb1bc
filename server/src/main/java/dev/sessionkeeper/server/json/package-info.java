/** Strict reading and writing of JSON: nothing is coerced, and every bad field is named at once. */
@NullMarked
package dev.sessionkeeper.server.json;

import org.jspecify.annotations.NullMarked;
