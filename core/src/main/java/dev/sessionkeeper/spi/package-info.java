/**
 * The interfaces that a provider implements. Every provider passes the contract of the test kit.
 */
@NullMarked
package dev.sessionkeeper.spi;

import org.jspecify.annotations.NullMarked;
