/** What the person on call looks at: health, metrics, the API description and the status page. */
@NullMarked
package dev.sessionkeeper.server.operations;

import org.jspecify.annotations.NullMarked;
