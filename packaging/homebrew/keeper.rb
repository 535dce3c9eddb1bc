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
    libexec.install Dir["cli/target/lib"], "keeper"
    # The launcher takes a runtime folder beside it for the sign of an installed package.
    (libexec/"runtime").install_symlink Formula["openjdk"].opt_libexec/"openjdk.jdk/Contents/Home/bin"
    bin.install_symlink libexec/"keeper"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/keeper --version")
  end
end
