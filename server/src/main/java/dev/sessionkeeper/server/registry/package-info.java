/** The routes of registered sessions, and the feature that opens registry, usage and jobs. */
@NullMarked
package dev.sessionkeeper.server.registry;

import org.jspecify.annotations.NullMarked;
