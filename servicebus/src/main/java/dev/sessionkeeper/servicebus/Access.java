package dev.sessionkeeper.servicebus;

import com.azure.core.credential.TokenCredential;
import com.azure.messaging.servicebus.ServiceBusClientBuilder;
import com.azure.messaging.servicebus.administration.ServiceBusAdministrationClientBuilder;
import dev.sessionkeeper.KeeperException;

/** A namespace and the credentials for it. */
sealed interface Access {

  ServiceBusClientBuilder open(ServiceBusClientBuilder builder);

  ServiceBusAdministrationClientBuilder open(ServiceBusAdministrationClientBuilder builder);

  /** Returns the advice for a connection that the SDK refuses. */
  KeeperException.Misconfigured refused();

  /** Access by a connection string with a shared key. */
  record ConnectionString(String text) implements Access {
    @Override
    public ServiceBusClientBuilder open(ServiceBusClientBuilder builder) {
      return builder.connectionString(text);
    }

    @Override
    public ServiceBusAdministrationClientBuilder open(
        ServiceBusAdministrationClientBuilder builder) {
      return builder.connectionString(text);
    }

    @Override
    public KeeperException.Misconfigured refused() {
      // Without the SDK's own message, which repeats parts of the string with its secret.
      return new KeeperException.Misconfigured(
          "The connection string of Service Bus is not valid; it has the form"
              + " Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…");
    }

    @Override
    public String toString() {
      return "a connection string";
    }
  }

  /** Access by a token of Entra ID, such as that of a managed identity. */
  record Token(String namespace, TokenCredential credential) implements Access {
    @Override
    public ServiceBusClientBuilder open(ServiceBusClientBuilder builder) {
      return builder.credential(namespace, credential);
    }

    @Override
    public ServiceBusAdministrationClientBuilder open(
        ServiceBusAdministrationClientBuilder builder) {
      return builder.endpoint("https://" + namespace).credential(credential);
    }

    @Override
    public KeeperException.Misconfigured refused() {
      return new KeeperException.Misconfigured(
          "The namespace of Service Bus is not valid; it has the form"
              + " shop.servicebus.windows.net, was "
              + namespace);
    }
  }
}
