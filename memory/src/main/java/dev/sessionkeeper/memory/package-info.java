/** The reference provider: every rule of the contract, in the memory of one process. */
@NullMarked
package dev.sessionkeeper.memory;

import org.jspecify.annotations.NullMarked;
