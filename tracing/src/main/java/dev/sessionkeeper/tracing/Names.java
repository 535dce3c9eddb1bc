package dev.sessionkeeper.tracing;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;

import io.opentelemetry.api.common.AttributeKey;

/**
 * The attribute names of our spans. Those under {@code messaging.} follow OpenTelemetry's
 * conventions, which are still in development; they are defined here only.
 */
final class Names {
  static final String SCOPE = "dev.sessionkeeper";
  static final String SYSTEM_NAME = "sessionkeeper";

  static final AttributeKey<String> SYSTEM = stringKey("messaging.system");
  static final AttributeKey<String> OPERATION = stringKey("messaging.operation.name");
  static final AttributeKey<String> OPERATION_TYPE = stringKey("messaging.operation.type");
  static final AttributeKey<String> DESTINATION = stringKey("messaging.destination.name");
  static final AttributeKey<String> CONVERSATION = stringKey("messaging.message.conversation_id");
  static final AttributeKey<String> MESSAGE = stringKey("messaging.message.id");
  static final AttributeKey<Long> BODY_SIZE = longKey("messaging.message.body.size");
  static final AttributeKey<Long> BATCH = longKey("messaging.batch.message_count");
  static final AttributeKey<String> ERROR = stringKey("error.type");

  static final AttributeKey<String> SESSION_ID = stringKey("session.id");
  static final AttributeKey<Long> SESSION_EPOCH = longKey("session.epoch");
  static final AttributeKey<String> CLOSE_REASON = stringKey("session.close_reason");
  static final AttributeKey<String> MESSAGE_ID = stringKey("message.id");
  static final AttributeKey<Long> DELIVERY_COUNT = longKey("message.delivery_count");
  static final AttributeKey<String> SETTLEMENT = stringKey("message.settlement");

  private Names() {}
}
