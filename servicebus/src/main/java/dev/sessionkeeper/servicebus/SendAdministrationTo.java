package dev.sessionkeeper.servicebus;

import com.azure.core.http.HttpPipelineCallContext;
import com.azure.core.http.HttpPipelineNextPolicy;
import com.azure.core.http.HttpPipelineNextSyncPolicy;
import com.azure.core.http.HttpResponse;
import com.azure.core.http.policy.HttpPipelinePolicy;
import java.net.MalformedURLException;
import java.net.URI;
import reactor.core.publisher.Mono;

/**
 * Sends administration requests to an emulator, because the SDK supports only HTTPS on the standard
 * port.
 */
record SendAdministrationTo(URI endpoint) implements HttpPipelinePolicy {
  @Override
  public Mono<HttpResponse> process(HttpPipelineCallContext context, HttpPipelineNextPolicy next) {
    redirect(context);
    return next.process();
  }

  @Override
  public HttpResponse processSync(
      HttpPipelineCallContext context, HttpPipelineNextSyncPolicy next) {
    redirect(context);
    return next.processSync();
  }

  private void redirect(HttpPipelineCallContext context) {
    try {
      var asked = context.getHttpRequest().getUrl();
      context.getHttpRequest().setUrl(endpoint.resolve(asked.getFile()).toURL());
    } catch (MalformedURLException e) {
      throw new IllegalStateException("Not an address for administration: " + endpoint, e);
    }
  }
}
