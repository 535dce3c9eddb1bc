/** The server: it binds the configuration, opens the store, and serves the features' routes. */
@NullMarked
package dev.sessionkeeper.server;

import org.jspecify.annotations.NullMarked;
