package dev.sessionkeeper.servicebus.testserver;

import org.apache.qpid.proton.amqp.Symbol;

/** Reports a request that the management node answers with an error. */
final class ManagementRefusal extends Exception {
  private static final long serialVersionUID = 1;
  final int status;
  final String condition;

  private ManagementRefusal(int status, String condition) {
    super(condition);
    this.status = status;
    this.condition = condition;
  }

  static ManagementRefusal gone(Symbol condition) {
    return new ManagementRefusal(410, condition.toString());
  }

  static ManagementRefusal notFound(String condition) {
    return new ManagementRefusal(404, condition);
  }

  static ManagementRefusal notImplemented(String operation) {
    return new ManagementRefusal(501, "amqp:not-implemented " + operation);
  }
}
