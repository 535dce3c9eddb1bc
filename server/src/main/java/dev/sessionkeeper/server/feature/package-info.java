/**
 * What the server gives to each of its features, and what it asks of them. Features know this
 * package; only the root package knows the features.
 */
@NullMarked
package dev.sessionkeeper.server.feature;

import org.jspecify.annotations.NullMarked;
