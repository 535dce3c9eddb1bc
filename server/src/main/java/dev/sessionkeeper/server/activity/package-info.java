/** Records when each credential was last seen, and measures the server's coalescing writers. */
@NullMarked
package dev.sessionkeeper.server.activity;

import org.jspecify.annotations.NullMarked;
