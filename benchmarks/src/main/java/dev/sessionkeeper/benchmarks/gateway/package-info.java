/**
 * Intake beside bare inserts of the same bytes, and push to endpoints that fail, are slow or dead.
 */
@NullMarked
package dev.sessionkeeper.benchmarks.gateway;

import org.jspecify.annotations.NullMarked;
