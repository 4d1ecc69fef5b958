//! The setups of transcripts: `@ VERB WORD...`. A word with spaces is in single quotes.

mod network;
mod store;

use std::collections::BTreeMap;
use std::path::Path;

use crate::support::author::{Author, steady};
use crate::support::origin::Origin;
use crate::support::registry::Registry;
use crate::support::scene::Run;

/// The scene of a transcript.
pub struct Stage {
    author: Author,
    env: BTreeMap<String, String>,
    registries: BTreeMap<String, Registry>,
    origin: Option<Origin>,
    /// Texts that differ between runs, and what a transcript has in their place.
    names: Vec<(String, String)>,
}

impl Stage {
    /// With `acme.asc`, `stranger.asc`, and `registry.opentofu.org` as the default host.
    pub fn new() -> Self {
        let mut env = BTreeMap::new();
        let tfoci = Path::new(env!("CARGO_BIN_EXE_tfoci")).parent().unwrap();
        // Directories of this machine that may not be read would change what the system says about programs that are missing.
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", tfoci.display());
        env.insert("PATH".to_owned(), path);
        // What fails once fails. How often requests are repeated is tested elsewhere.
        for retry in ["TF_REGISTRY_DISCOVERY_RETRY", "TF_PROVIDER_DOWNLOAD_RETRY"] {
            env.insert(retry.to_owned(), "0".to_owned());
        }
        let mut author = Author::new();
        // Its path would be in what `doctor` prints.
        author.scene.remove_env("SSL_CERT_FILE");
        Self {
            author,
            env,
            registries: BTreeMap::new(),
            origin: None,
            names: Vec::new(),
        }
    }

    /// Runs a script in the scene's directory.
    pub fn run(&self, script: &str) -> Run {
        let mut command = self.author.scene.command("sh");
        let output = command.args(["-c", script]).envs(&self.env).output();
        let output = output.unwrap();
        let mut run = steady(Run {
            status: output.status.code(),
            stdout: self.author.scene.filter(output.stdout),
            stderr: self.author.scene.filter(output.stderr),
        });
        for (text, name) in &self.names {
            for stream in [&mut run.stdout, &mut run.stderr] {
                *stream = stream.replace(text, name);
            }
        }
        run
    }

    /// Does what a line `@ …` says.
    ///
    /// | | |
    /// | --- | --- |
    /// | `env NAME VALUE` | sets a variable; without a value, removes it |
    /// | others | see [`store`] and [`network`] |
    pub fn given(&mut self, line: &str) {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words[..] {
            ["env", name, value] => {
                self.env.insert(name.to_owned(), value.to_owned());
            }
            ["env", name] => self.author.scene.remove_env(name),
            _ if self.store(&words) || self.network(&words) => {}
            _ => panic!("no setup is called `{line}`"),
        }
    }

    /// A host that differs between runs gets a name: `REGISTRY` in the output, and a variable in commands.
    fn name(&mut self, host: &str, name: &str) {
        self.env.insert(name.to_owned(), host.to_owned());
        // Directories of layouts have `_` before the port.
        for host in [host.to_owned(), host.replace(':', "_")] {
            self.names.push((host, format!("[{name}]")));
        }
    }
}

/// The words of a line. A word in single quotes may have spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// The values of `KEY=VALUE` among words, and the other words.
fn options<'w>(words: &[&'w str]) -> (BTreeMap<&'w str, &'w str>, Vec<&'w str>) {
    let (options, others): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| word.contains('='));
    let options = options.iter().filter_map(|word| word.split_once('='));
    (options.collect(), others)
}
