/** What a queue technology implements. Every implementation passes the contract of the test kit. */
@NullMarked
package dev.sessionkeeper.spi;

import org.jspecify.annotations.NullMarked;
