/** Resume points of the subscribers of a stream. */
@NullMarked
package dev.sessionkeeper.cursors;

import org.jspecify.annotations.NullMarked;
