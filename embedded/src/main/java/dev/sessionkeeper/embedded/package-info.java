/** A real PostgreSQL in a folder, for {@code keeper serve} without a database and for tests. */
@NullMarked
package dev.sessionkeeper.embedded;

import org.jspecify.annotations.NullMarked;
