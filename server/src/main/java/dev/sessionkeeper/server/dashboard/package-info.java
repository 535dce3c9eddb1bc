/**
 * The dashboard. Pages call the API as their reader; they read no store and check no right
 * themselves.
 */
@NullMarked
package dev.sessionkeeper.server.dashboard;

import org.jspecify.annotations.NullMarked;
