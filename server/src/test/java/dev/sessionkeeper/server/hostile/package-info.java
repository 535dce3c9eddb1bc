/** Hostile clients beside a normal load, against a server in a process of its own. */
@NullMarked
package dev.sessionkeeper.server.hostile;

import org.jspecify.annotations.NullMarked;
