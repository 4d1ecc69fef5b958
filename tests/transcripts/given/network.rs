//! Registries, origins and their faults.

use super::store::signer;
use super::{Stage, options};
use crate::support::origin::{Provider, Release, Setup as OriginSetup, asks};
use crate::support::registry::answer::Answer;
use crate::support::registry::{Access, Fault, Personality, Setup, matching};
use crate::support::release::ReleaseFolder;
use crate::support::tls::Authority;

impl Stage {
    /// | | |
    /// | --- | --- |
    /// | `registry NAME [KIND] [KEY=VALUE...]` | starts a registry at `$NAME`. Keys: `access` (`open`, or `basic` for `robot`), `create` (a repository), `tls` (the host in its certificate, whose authority is `ca.pem`), `host` (its name behind the proxy `$NAME_PROXY`), `immutable` |
    /// | `origin [VERSION PLATFORM...] [KEY=VALUE...]` | starts an origin of `acme/demo` at `$ORIGIN`, with `ca.pem`; 1.0.0 for `linux_amd64` without words. Keys: `keys` (signers whose keys it serves; empty for none), `token` |
    /// | `fault NAME METHOD PATH ANSWER...` | a registry answers requests of a method, whose path contains a text, with `STATUS`, `STATUS BODY`, `STATUS CODE MESSAGE` (an error of the distribution specification), `redirect URL`, `denied`, `reset` or `header NAME VALUE` |
    /// | `fault origin KIND ANSWER...` | an origin answers a kind of request (`versions`, `download acme/demo 1.0.0 linux_amd64`) so |
    pub(super) fn network(&mut self, words: &[&str]) -> bool {
        match *words {
            ["registry", name, ref words @ ..] => self.registry(name, words),
            ["origin", ref words @ ..] => self.origin(words),
            ["fault", "origin", sort, ref answer @ ..] => {
                let fault = self.fault(answer);
                self.origin.as_ref().unwrap().always(asks(sort), fault);
            }
            ["fault", name, method, path, ref answer @ ..] => {
                let fault = self.fault(answer);
                self.registries[name].always(matching(method, path), fault);
            }
            _ => return false,
        }
        true
    }

    fn registry(&mut self, name: &str, words: &[&str]) {
        let (options, words) = options(words);
        let mut all = Personality::ALL.into_iter();
        let kind = words.first().unwrap_or(&"Plain");
        let kind = all.find(|kind_| format!("{kind_:?}") == *kind).unwrap();
        let mut setup = Setup::of(kind);
        for (key, value) in options {
            setup = match (key, value) {
                ("access", "open") => setup.access(Access::Open),
                ("access", "basic") => setup.access(Access::Basic { user: "robot" }),
                ("create", name) => setup.create(name),
                ("host", name) => setup.host(name),
                ("immutable", _) => setup.quirks(|quirks| quirks.immutable = true),
                ("tls", host) => {
                    let authority = Authority::new("tests");
                    authority.write(&self.author.scene, "ca.pem");
                    setup.tls(authority.server_of(&[host]).serve(None))
                }
                _ => panic!("a registry has no `{key}={value}`"),
            };
        }
        let registry = setup.start();
        self.name(registry.host(), name);
        let elsewhere = registry.doors().elsewhere.clone();
        let (_, elsewhere) = elsewhere.split_once("://").unwrap();
        self.name(elsewhere, &format!("{name}_ELSEWHERE"));
        let proxy = registry.proxy().to_owned();
        self.env.insert(format!("{name}_PROXY"), proxy);
        self.registries.insert(name.to_owned(), registry);
    }

    fn origin(&mut self, words: &[&str]) {
        let (options, words) = options(words);
        let (version, platforms) = match words[..] {
            [] => ("1.0.0", &["linux_amd64"][..]),
            _ => (words[0], &words[1..]),
        };
        let folder = ReleaseFolder::new("demo", version);
        let folder = platforms.iter().fold(folder, |all, one| all.platform(one));
        let mut release = Release::from(folder);
        if let Some(names) = options.get("keys") {
            let names = names.split(',').filter(|name| !name.is_empty());
            let keys: Vec<String> = names.map(|name| signer(name).public_armored()).collect();
            release = release.keys(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        }
        let provider = Provider::new("acme/demo").release(release);
        let mut setup = OriginSetup::new([provider]);
        if let Some(token) = options.get("token") {
            setup = setup.token(token);
        }
        let origin = setup.start();
        origin.write_ca(&self.author.scene);
        self.name(&origin.host().to_owned(), "ORIGIN");
        for (door, name) in [
            (&origin.doors().elsewhere, "ELSEWHERE"),
            (&origin.doors().plain, "PLAIN"),
        ] {
            let (_, host) = door.split_once("://").unwrap();
            self.names.push((host.to_owned(), format!("[{name}]")));
        }
        self.origin = Some(origin);
    }

    fn fault(&self, answer: &[&str]) -> Fault {
        let number = |text: &str| text.parse().unwrap();
        match *answer {
            ["denied"] => Fault::denied(),
            ["reset"] => Fault::Reset,
            ["redirect", url] => Fault::redirect(url),
            ["header", "location", value] => Fault::with("location", self.expanded(value)),
            [status] => Fault::status(number(status)),
            [status, body] => Fault::Answer(Answer::new(number(status)).body(body.to_owned())),
            [status, code, message] => Fault::Answer(Answer::error(number(status), code, message)),
            _ => panic!("no server answers with {answer:?}"),
        }
    }

    /// A text with the values of variables in the place of `$NAME`.
    fn expanded(&self, text: &str) -> String {
        let variables = self.env.iter().rev();
        variables.fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("${name}"), value)
        })
    }
}
