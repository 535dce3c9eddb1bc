# A formula that builds from source. VERSION and SHA256 are filled in at each release; see docs/how-to/release.md.
class Keeper < Formula
  desc "Ordered processing per key, one owner per key at a time"
  homepage "https://github.com/sessionkeeper/sessionkeeper"
  url "https://github.com/sessionkeeper/sessionkeeper/archive/refs/tags/vVERSION.tar.gz"
  sha256 "SHA256"
  license "Apache-2.0"

  depends_on "maven" => :build
  depends_on "openjdk"

  def install
    system "mvn", "-B", "-q", "-Dfast", "-DskipTests", "-pl", "cli", "-am", "package"
    # The launcher takes lib and runtime beside it for the sign of an installed package.
    libexec.install "cli/target/lib", "keeper", "ops"
    (libexec/"runtime").install_symlink Language::Java.java_home/"bin"
    bin.install_symlink libexec/"keeper"
    (buildpath/"keeper.1").write Utils.safe_popen_read(bin/"keeper", "man-page")
    man1.install "keeper.1"
    (buildpath/"completion").write Utils.safe_popen_read(bin/"keeper", "generate-completion")
    bash_completion.install "completion" => "keeper"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/keeper --version")
    (testpath/"keeper.yaml").write "server: { port: 8080 }\n"
    system bin/"keeper", "check", testpath/"keeper.yaml"
  end
end
