package dev.sessionkeeper.server.http;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;

/**
 * Ends connections that send requests without end and do not take their answers.
 *
 * <p>The web server takes in every request that a connection sends, however many wait for their
 * turn, and walks along all of them for each new one: a single client could keep its event loop
 * busy for minutes. On the event loop, between the HTTP codec and the web server.
 */
final class WatchRequests extends ChannelDuplexHandler {
  /** The most requests of a connection whose answers the client has not taken. */
  static final int MOST_WAITING = 64;

  private int waiting;
  private boolean isOver;

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (message instanceof HttpRequest) {
      waiting++;
      if (waiting > MOST_WAITING && !isOver) {
        isOver = true;
        var unused = context.close();
      }
    }
    if (isOver) {
      ReferenceCountUtil.release(message);
    } else {
      context.fireChannelRead(message);
    }
  }

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    var unused =
        message instanceof LastHttpContent && !isInterim(message)
            ? context.write(message, promise.unvoid().addListener(taken -> waiting--))
            : context.write(message, promise);
  }

  private static boolean isInterim(Object message) {
    return message instanceof HttpResponse head
        && head.status().codeClass() == HttpStatusClass.INFORMATIONAL;
  }
}
