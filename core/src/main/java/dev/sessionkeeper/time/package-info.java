/** The source of all time in the product, so that a test can move the clock. */
@NullMarked
package dev.sessionkeeper.time;

import org.jspecify.annotations.NullMarked;
