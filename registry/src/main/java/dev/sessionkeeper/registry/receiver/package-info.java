/**
 * A receiver of usage for tests and demonstrations: it keeps the contract of
 * docs/explanation/usage.md, and fails on demand.
 */
@NullMarked
package dev.sessionkeeper.registry.receiver;

import org.jspecify.annotations.NullMarked;
