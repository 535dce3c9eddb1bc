/**
 * The HTTP kernel: routes, requests, responses and problems, over Vert.x. A feature adds a list of
 * {@link dev.sessionkeeper.server.http.Route}s and never uses Vert.x itself.
 */
@NullMarked
package dev.sessionkeeper.server.http;

import org.jspecify.annotations.NullMarked;
