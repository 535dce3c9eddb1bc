package dev.sessionkeeper.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class UnixSocketTest {
  @TempDir Path folder;
  private ServerSocketChannel listener;
  private Socket socket;
  private SocketChannel peer;

  @BeforeEach
  void connect() throws Exception {
    var path = folder.resolve("s");
    listener = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    listener.bind(UnixDomainSocketAddress.of(path));
    socket = new UnixSocketFactory(path.toString()).createSocket();
    socket.connect(InetSocketAddress.createUnresolved("localhost", 5432), 1000);
    peer = listener.accept();
  }

  @AfterEach
  void close() throws Exception {
    socket.close();
    peer.close();
    listener.close();
  }

  @Test
  void aReadThatTimedOutCanBeRepeated() throws Exception {
    socket.setSoTimeout(50);
    assertThatThrownBy(() -> socket.getInputStream().read())
        .isInstanceOf(SocketTimeoutException.class);

    peer.write(ByteBuffer.wrap(new byte[] {7}));

    assertThat(socket.getInputStream().read()).isEqualTo(7);
  }

  @Test
  void theEndOfThePeerIsTheEndOfTheStream() throws Exception {
    peer.close();

    assertThat(socket.getInputStream().read()).isEqualTo(-1);
  }

  @Test
  void closingWakesAReader() throws Exception {
    var read = new FutureTask<>(() -> socket.getInputStream().read());
    var reader = Thread.ofPlatform().start(read);
    while (reader.getState() == Thread.State.NEW) {
      Thread.onSpinWait();
    }

    socket.close();

    assertThatThrownBy(read::get).hasCauseInstanceOf(SocketException.class);
    assertThat(socket.isClosed()).isTrue();
  }

  @Test
  void aWriteThatThePeerDoesNotTakeTimesOut() throws Exception {
    socket.setSoTimeout(100);

    assertThatThrownBy(() -> socket.getOutputStream().write(new byte[8 << 20]))
        .isInstanceOf(SocketTimeoutException.class);
  }

  @Test
  void aLargeWriteArrivesWhole() throws Exception {
    var sent = new byte[1 << 20];
    new java.util.Random(1).nextBytes(sent);
    var received = ByteBuffer.allocate(sent.length);
    var reading =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    while (received.hasRemaining() && peer.read(received) >= 0) {
                      Thread.yield();
                    }
                  } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                  }
                });

    socket.getOutputStream().write(sent);
    reading.join();

    assertThat(received.array()).isEqualTo(sent);
  }

  @Test
  void anInterruptClosesTheSocketUnderAVirtualThreadOnly() throws Exception {
    var virtual = new FutureTask<>(() -> socket.getInputStream().read());
    var thread = Thread.ofVirtual().unstarted(virtual);
    thread.start();

    thread.interrupt();

    assertThatThrownBy(virtual::get).hasRootCauseInstanceOf(SocketException.class);
  }

  @Test
  void aPlatformThreadReadsOnAfterAnInterrupt() throws Exception {
    var read = new FutureTask<>(() -> socket.getInputStream().read());
    var thread = Thread.ofPlatform().start(read);
    thread.interrupt();

    peer.write(ByteBuffer.wrap(new byte[] {9}));

    assertThat(read.get()).isEqualTo(9);
  }
}
