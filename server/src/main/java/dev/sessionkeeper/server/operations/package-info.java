/** Routes for operators: health, metrics, the API description and the status page. */
@NullMarked
package dev.sessionkeeper.server.operations;

import org.jspecify.annotations.NullMarked;
