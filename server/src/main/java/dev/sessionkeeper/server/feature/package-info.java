/**
 * The interface between the server and its features. Features know this package; only the root
 * package knows the features.
 */
@NullMarked
package dev.sessionkeeper.server.feature;

import org.jspecify.annotations.NullMarked;
