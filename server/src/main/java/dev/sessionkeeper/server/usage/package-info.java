/** The routes of the ledger, its proof and its outbox. */
@NullMarked
package dev.sessionkeeper.server.usage;

import org.jspecify.annotations.NullMarked;
