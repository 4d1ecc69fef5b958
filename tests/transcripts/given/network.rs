//! Registries, origins and their faults.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::store::signer;
use super::{Stage, options};
use crate::support::origin::{Provider, Release, Setup as OriginSetup, asks};
use crate::support::port;
use crate::support::registry::answer::Answer;
use crate::support::registry::{Access, Fault, Personality, Seen, Setup, matching};
use crate::support::release::ReleaseFolder;
use crate::support::tls::Authority;

impl Stage {
    /// | | |
    /// | --- | --- |
    /// | `registry NAME [KIND] [KEY=VALUE...]` | starts a registry at `$NAME`. Keys: `access` (`open`, or `basic` for `robot`), `create` (a repository), `catalog` (repositories on a page), `tls` (the hosts in its certificate, whose authority is `ca.pem`; `stranger` for another authority, or a year), `clients` (a client whose certificate it requires), `host` (its name behind the proxy `$NAME_PROXY`), `immutable` |
    /// | `listener NAME absent\|silent\|alert` | a host at `$NAME` that is no server: no process listens, none answers, or it refuses each handshake of TLS |
    /// | `origin [VERSION PLATFORM...] [KEY=VALUE...]` | starts an origin of `acme/demo` at `$ORIGIN`, with `ca.pem`; 1.0.0 for `linux_amd64` without words. Keys: `keys` (signers whose keys it serves; empty for none), `token`, `providers` (instead of `acme/demo`), `executable` (the text of the executable in each zip) |
    /// | `publish [VERSION PLATFORM...] [KEY=VALUE...]` | the origin has this release instead |
    /// | `fault NAME METHOD PATH ANSWER...` | a registry answers requests of a method (`*`: any), whose path contains a text, with `STATUS`, `STATUS BODY`, `STATUS CODE MESSAGE` (an error of the distribution specification), `page STATUS`, `redirect URL`, `denied`, `pause SECONDS`, `reset`, `stall` (within the body) or `header NAME VALUE` |
    /// | `fault origin KIND ANSWER...` | an origin answers a kind of request (`versions`, `download acme/demo 1.0.0 linux_amd64`) so |
    /// | `once origin KIND ANSWER...` | it answers the next one so |
    pub(super) fn network(&mut self, words: &[&str]) -> bool {
        match *words {
            ["registry", name, ref words @ ..] => self.registry(name, words),
            ["listener", name, kind] => self.name(&listener(kind), name),
            ["origin", ref words @ ..] => self.origin(words),
            ["publish", ref words @ ..] => {
                let (options, words) = options(words);
                let [provider] = &providers(&options, &words)[..] else {
                    panic!("an origin publishes one provider at a time");
                };
                self.origin.as_ref().unwrap().publish(provider.clone());
            }
            ["fault", "origin", sort, ref answer @ ..] => {
                let fault = self.fault(answer);
                self.origin.as_ref().unwrap().always(asks(sort), fault);
            }
            ["once", "origin", sort, ref answer @ ..] => {
                let fault = self.fault(answer);
                self.origin.as_ref().unwrap().fault(1, asks(sort), fault);
            }
            ["fault", name, "*", path, ref answer @ ..] => {
                let path = path.to_owned();
                let sort = move |seen: &Seen| seen.path.contains(&path);
                self.registries[name].always(sort, self.fault(answer));
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
        for (key, value) in &options {
            setup = match (*key, *value) {
                ("access", "open") => setup.access(Access::Open),
                ("access", "basic") => setup.access(Access::Basic { user: "robot" }),
                ("create", name) => setup.create(name),
                ("catalog", page) => {
                    setup.quirks(|quirks| quirks.catalog = Some(page.parse().unwrap()))
                }
                ("host", name) => setup.host(name),
                ("immutable", _) => setup.quirks(|quirks| quirks.immutable = true),
                ("tls", certificate) => {
                    let authority = Authority::shared();
                    authority.write(&self.author.scene, "ca.pem");
                    let identity = match (certificate, certificate.parse()) {
                        ("stranger", _) => Authority::new("stranger").server(),
                        (_, Ok(year)) => authority.server_in(year),
                        _ => authority.server_of(&certificate.split(',').collect::<Vec<_>>()),
                    };
                    let client = options.get("clients").map(|client| {
                        authority.client(client).write(&self.author.scene, client);
                        authority
                    });
                    setup.tls(identity.serve(client))
                }
                ("clients", _) => setup,
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
        let mut setup = OriginSetup::new(providers(&options, &words));
        if let Some(token) = options.get("token") {
            setup = setup.token(token);
        }
        let origin = setup.start();
        origin.write_ca(&self.author.scene);
        self.name(origin.host(), "ORIGIN");
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
            ["stall"] => Fault::stall_body(10),
            ["redirect", url] => Fault::redirect(&self.expanded(url)),
            ["pause", seconds] => Fault::too_many_requests(seconds),
            ["page", status] => {
                let answer = Answer::new(number(status)).header("content-type", "text/html");
                Fault::Answer(answer.body("<html>welcome</html>"))
            }
            ["header", name, value] => {
                let (name, value) = (name.to_owned(), self.expanded(value));
                Fault::alter(move |answer| answer.set(&name, &value))
            }
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

/// The providers of an origin, with the same release.
fn providers(options: &BTreeMap<&str, &str>, words: &[&str]) -> Vec<Provider> {
    let (version, platforms) = match *words {
        [] => ("1.0.0", &["linux_amd64"][..]),
        _ => (words[0], &words[1..]),
    };
    let addresses = options.get("providers").unwrap_or(&"acme/demo");
    let provider = |address: &str| {
        let (_, type_name) = address.split_once('/').unwrap();
        let mut folder = ReleaseFolder::new(type_name, version);
        for platform in platforms {
            folder = match options.get("executable") {
                Some(text) => {
                    let name = format!("terraform-provider-{type_name}_v{version}");
                    folder.package(platform, &[(&name, text.as_bytes())])
                }
                None => folder.platform(platform),
            };
        }
        let mut release = Release::from(folder);
        if let Some(names) = options.get("keys") {
            let names = names.split(',').filter(|name| !name.is_empty());
            let keys: Vec<String> = names.map(|name| signer(name).public_armored()).collect();
            release = release.keys(&keys.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Provider::new(address).release(release)
    };
    addresses.split(',').map(provider).collect()
}

/// Starts something that is no server of HTTP. It ends with the process of the tests.
fn listener(kind: &str) -> String {
    // A fatal alert of TLS 1.2 and 1.3: the handshake failed.
    const ALERT: &[u8] = &[21, 3, 3, 0, 2, 2, 40];
    let says = match kind {
        "absent" => return format!("127.0.0.1:{}", port::unused()),
        "alert" => Some(ALERT),
        "closes" => Some(&[][..]),
        "silent" => None,
        _ => panic!("no listener is `{kind}`"),
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            match says {
                None => silent.push(stream),
                Some(bytes) => {
                    // The client may have gone away.
                    let _read = stream.read(&mut [0; 4096]);
                    let _written = stream.write_all(bytes);
                }
            }
        }
    });
    host
}
