/** Sends values of the application: encoded, keyed and, where wished, scheduled. */
@NullMarked
package dev.sessionkeeper.sender;

import org.jspecify.annotations.NullMarked;
