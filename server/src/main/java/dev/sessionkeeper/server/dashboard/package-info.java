/**
 * Pages for people. They show what the API answers to their reader and do what the API does for
 * their reader; they read no store and check no right themselves.
 */
@NullMarked
package dev.sessionkeeper.server.dashboard;

import org.jspecify.annotations.NullMarked;
