/** Who was seen when, and how the server's coalescing writers are measured. */
@NullMarked
package dev.sessionkeeper.server.activity;

import org.jspecify.annotations.NullMarked;
