/**
 * One Java type for each kind of row that the functions of the schema {@code keeper} return.
 * Statements are not here.
 */
@NullMarked
package dev.sessionkeeper.postgres.row;

import org.jspecify.annotations.NullMarked;
