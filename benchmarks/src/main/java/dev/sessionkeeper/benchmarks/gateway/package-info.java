/**
 * Intake compared with bare inserts of the same bytes, and push to endpoints that fail, are slow or
 * do not answer.
 */
@NullMarked
package dev.sessionkeeper.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
