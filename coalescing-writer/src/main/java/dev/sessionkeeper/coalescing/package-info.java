/** A bounded writer that keeps the newest value per key and writes keys in batches. */
@NullMarked
package dev.sessionkeeper.coalescing;

import org.jspecify.annotations.NullMarked;
