/**
 * One coalescing, backpressured writer for last values, and the cursor of a stream's subscriber on
 * top of it.
 */
@NullMarked
package dev.sessionkeeper.cursors;

import org.jspecify.annotations.NullMarked;
