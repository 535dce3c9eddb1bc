/** The routes of scheduled jobs. */
@NullMarked
package dev.sessionkeeper.server.jobs;

import org.jspecify.annotations.NullMarked;
