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
 * Closes connections that send requests without end and do not read the answers.
 *
 * <p>Vert.x accepts every request of a connection, however many wait, and scans all of them for
 * each new one. So a single client could keep the event loop busy for minutes. This handler runs on
 * the event loop, between the HTTP codec and Vert.x.
 */
final class WatchRequests extends ChannelDuplexHandler {
  /** The most requests of a connection whose answers the client has not read. */
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
