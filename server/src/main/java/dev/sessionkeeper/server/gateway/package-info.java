/**
 * Receives GitHub's webhooks, stores them, routes them to bots and pushes them.
 * docs/explanation/github.md explains its use.
 */
@NullMarked
package dev.sessionkeeper.server.gateway;

import org.jspecify.annotations.NullMarked;
