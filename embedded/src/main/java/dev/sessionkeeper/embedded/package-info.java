/** A real PostgreSQL in a folder, for `keeper serve` without a database and for tests. */
@NullMarked
package dev.sessionkeeper.embedded;

import org.jspecify.annotations.NullMarked;
