//! The configuration that tfoci reads: the clients' CLI configuration, modules, `mirror.toml`, trust files and templates.
//!
//! The first byte chooses which of them the rest is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tfoci::config::MirrorFile;
use tfoci::config::cli::CliConfig;
use tfoci::config::module::{Module, SourceFile};
use tfoci::lockfile::Client;
use tfoci::template::RepositoryTemplate;
use tfoci::trust::TrustFile;

fuzz_target!(|input: &[u8]| {
    let Some((kind, bytes)) = input.split_first() else {
        return;
    };
    let module = |name| {
        let host = "registry.opentofu.org".parse().unwrap();
        let _ = Module::read(&[SourceFile { name, bytes }], None, &host);
    };
    let text = str::from_utf8(bytes);
    match (kind, text) {
        (b'c', _) => drop(CliConfig::parse(bytes, Client::OpenTofu)),
        (b'h', _) => module("main.tf"),
        (b'j', _) => module("main.tf.json"),
        (b'm', Ok(text)) => drop(MirrorFile::parse(text)),
        (b't', Ok(text)) => drop(TrustFile::parse(text)),
        (b'r', Ok(text)) => drop(RepositoryTemplate::parse(text)),
        _ => {}
    }
});
