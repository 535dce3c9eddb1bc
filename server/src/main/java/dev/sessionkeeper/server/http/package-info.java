/**
 * A thin port over the web server: routes, requests, answers and problems. A feature adds a list of
 * {@link dev.sessionkeeper.server.http.Route}s and never sees the web server itself.
 */
@NullMarked
package dev.sessionkeeper.server.http;

import org.jspecify.annotations.NullMarked;
