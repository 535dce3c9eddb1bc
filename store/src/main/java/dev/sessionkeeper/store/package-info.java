/** Transactions, migrations and the event log on PostgreSQL, shared by the durable modules. */
@NullMarked
package dev.sessionkeeper.store;

import org.jspecify.annotations.NullMarked;
