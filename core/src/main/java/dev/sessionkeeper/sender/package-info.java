/**
 * Sends values of the application: encodes them, chooses their session and, if asked, schedules
 * them.
 */
@NullMarked
package dev.sessionkeeper.sender;

import org.jspecify.annotations.NullMarked;
