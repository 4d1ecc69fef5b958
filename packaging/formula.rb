class Tfoci < Formula
  desc "Copies OpenTofu and Terraform providers into OCI registries"
  homepage "@URL@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@URL@/releases/download/v@VERSION@/tfoci-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL@/releases/download/v@VERSION@/tfoci-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end
  on_linux do
    on_arm do
      url "@URL@/releases/download/v@VERSION@/tfoci-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL@/releases/download/v@VERSION@/tfoci-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "tfoci", "oci-push"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/tfoci.bash" => "tfoci"
    fish_completion.install "completions/tfoci.fish"
    zsh_completion.install "completions/tfoci.zsh" => "_tfoci"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tfoci --version")
  end
end
