/** The scheduled work of the registry and of usage. */
@NullMarked
package dev.sessionkeeper.registry.scheduled;

import org.jspecify.annotations.NullMarked;
