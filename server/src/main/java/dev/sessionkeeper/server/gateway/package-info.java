/**
 * Takes in GitHub's webhooks, keeps them, routes them to bots and pushes them.
 * docs/explanation/github.md says how it is used.
 */
@NullMarked
package dev.sessionkeeper.server.gateway;

import org.jspecify.annotations.NullMarked;
