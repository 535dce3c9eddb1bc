/**
 * For tests of providers and of applications: the contract as JUnit classes, a clock that a test
 * moves, a provider with faults, and checkers of recorded histories.
 */
@NullMarked
package dev.sessionkeeper.testkit;

import org.jspecify.annotations.NullMarked;
