/** Transactions, migrations and the event log on PostgreSQL: what the durable modules share. */
@NullMarked
package dev.sessionkeeper.store;

import org.jspecify.annotations.NullMarked;
