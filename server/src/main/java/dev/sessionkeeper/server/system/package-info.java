/** Shows the server itself: its nodes, its store, its bots and its streams. */
@NullMarked
package dev.sessionkeeper.server.system;

import org.jspecify.annotations.NullMarked;
