//! Releases, keys and stores.

use std::fs;

use super::{Stage, options};
use crate::support::author::REPOSITORY;
use crate::support::release::{Mistake, ReleaseFolder};
use crate::support::signer::Signer;
use crate::support::{copy, tamper, testdata};

const MISTAKES: [Mistake; 8] = [
    Mistake::ZipsAltered,
    Mistake::ZipsUnlisted,
    Mistake::DocumentAltered,
    Mistake::DocumentMissing,
    Mistake::SignatureBroken,
    Mistake::SignatureByStranger,
    Mistake::SignatureArmored,
    Mistake::SignatureMissing,
];

impl Stage {
    /// | | |
    /// | --- | --- |
    /// | `release [VERSION PLATFORM...] [KEY=VALUE...]` | writes a release of `demo` into `dist`, which it empties first; 1.0.0 for two platforms without words. Keys: `dir`, `type`, `mistake` (a [`Mistake`]), `by` (a signer), `executable` (the text of the executable in each zip), `files` (the names in each zip), `zip` (the bytes of each zip), `manifest` |
    /// | `signed CASE` | writes a release into `dist` with a signature of `testdata/keys`, and its key into `key.asc` |
    /// | `pushed` | that release, pushed to `oci-layout:store`; with the words of `release` |
    /// | `pushed-unsigned` | the same without a signature |
    /// | `layout NAME [DIRECTORY]` | copies a layout of `testdata/layouts` to `store` |
    /// | `key SIGNER FILE` | writes the key of a signer. Its fingerprint is `$SIGNER` and, in the output, `[SIGNER]` |
    /// | `secret-key SIGNER FILE` | writes the secret key, armored if the name ends with `.asc` |
    /// | `evidence MEDIA_TYPE` | changes a byte of this layer of the evidence of 1.0.0 |
    /// | `alter TAG POINTER JSON` | alters the document of a tag: a JSON pointer and a value, or `-` to remove it |
    /// | `tag OLD NEW` | renames a tag |
    /// | `untag TAG` | removes a tag |
    pub(super) fn store(&mut self, words: &[&str]) -> bool {
        let repository = self.author.scene.path(REPOSITORY);
        match *words {
            ["release", ref words @ ..] => self.release(words),
            ["pushed", ref words @ ..] => {
                self.release(words);
                self.author.push("").succeeds();
            }
            ["pushed-unsigned"] => self.author.with_pushed_unsigned(),
            ["layout", name] => self.layout(name, "store"),
            ["layout", name, directory] => self.layout(name, directory),
            ["signed", case] => self.signed(case),
            ["secret-key", name, file] => {
                let [armored, binary] = signer(name).secret();
                let is_text = file.ends_with(".asc");
                let key = if is_text { armored } else { binary };
                self.author.scene.write(file, key);
            }
            ["key", name, file] => {
                self.author.scene.write(file, signer(name).public_armored());
                let fingerprint = signer(name).fingerprint();
                let (name, (_, id)) = (name.to_uppercase(), fingerprint.split_at(24));
                let name = name.replace('-', "_");
                self.name(&fingerprint, &name);
                self.names.push((id.to_owned(), format!("[{name} ID]")));
            }
            ["evidence", media_type] => {
                let evidence = self.author.document("evidence-1.0.0");
                let mut layers = evidence["layers"].as_array().unwrap().iter();
                let layer = layers.find(|layer| layer["mediaType"] == media_type);
                let digest = layer.unwrap()["digest"].as_str().unwrap();
                let file = self.author.blob(digest.strip_prefix("sha256:").unwrap());
                let mut bytes = fs::read(&file).unwrap();
                bytes[0] ^= 1;
                fs::write(file, bytes).unwrap();
            }
            ["alter", tag, pointer, value] => tamper::alter(&repository, tag, |document| {
                let (parent, name) = pointer.rsplit_once('/').unwrap();
                let parent = document.pointer_mut(parent).unwrap();
                match (value, parent.as_array_mut()) {
                    ("-", None) => {
                        parent.as_object_mut().unwrap().remove(name);
                    }
                    ("-", Some(array)) => {
                        array.remove(name.parse().unwrap());
                    }
                    _ => parent[name] = serde_json::from_str(value).unwrap(),
                }
            }),
            ["tag", old, new] => tamper::tags(&repository, |tags| {
                const REF_NAME: &str = "org.opencontainers.image.ref.name";
                let mut tags = tags.iter_mut();
                let tag = tags.find(|tag| tag["annotations"][REF_NAME] == old);
                tag.unwrap()["annotations"][REF_NAME] = new.into();
            }),
            ["untag", tag] => tamper::untag(&repository, tag),
            _ => return false,
        }
        true
    }

    fn release(&self, words: &[&str]) {
        let (options, words) = options(words);
        let (version, platforms) = match words[..] {
            [] => ("1.0.0", &["darwin_arm64", "linux_amd64"][..]),
            _ => (words[0], &words[1..]),
        };
        let type_name = options.get("type").unwrap_or(&"demo");
        let mut release = ReleaseFolder::new(type_name, version);
        for platform in platforms {
            let content = ["executable", "files", "zip"];
            let content = content.map(|key| options.get(key));
            release = match content {
                [Some(text), ..] => {
                    let name = format!("terraform-provider-{type_name}_v{version}");
                    release.package(platform, &[(&name, text.as_bytes())])
                }
                [_, Some(names), _] => {
                    let files = names.split(',').map(|name| (name, &b"x"[..]));
                    release.package(platform, &files.collect::<Vec<_>>())
                }
                [.., Some(bytes)] => release.zip(platform, bytes.as_bytes()),
                _ => release.platform(platform),
            };
        }
        for (key, value) in &options {
            release = match *key {
                "mistake" => {
                    let mut all = MISTAKES.into_iter();
                    release.mistake(all.find(|m| format!("{m:?}") == *value).unwrap())
                }
                "by" => release.signed_by(signer(value)),
                "manifest" => release.manifest(value),
                "dir" | "type" | "executable" | "files" | "zip" => release,
                _ => panic!("a release has no `{key}`"),
            };
        }
        let directory = options.get("dir").unwrap_or(&"dist");
        let directory = self.author.scene.path(directory);
        let _ = fs::remove_dir_all(&directory);
        release.write(&directory);
    }

    /// The document that every key of `testdata/keys` signed, and files with the names and checksums in it.
    fn signed(&self, case: &str) {
        const STEM: &str = "terraform-provider-demo_1.0.0_";
        let keys = testdata("keys");
        let document = fs::read_to_string(keys.join("SHA256SUMS")).unwrap();
        for line in document.lines() {
            let (_, name) = line.split_once("  ").unwrap();
            let platform = name.strip_prefix(STEM).unwrap();
            let platform = platform.strip_suffix(".zip").unwrap();
            self.author.scene.write(format!("dist/{name}"), platform);
        }
        for (from, to) in [
            ("SHA256SUMS".to_owned(), format!("dist/{STEM}SHA256SUMS")),
            (format!("{case}.sig"), format!("dist/{STEM}SHA256SUMS.sig")),
            (format!("{case}.asc"), "key.asc".to_owned()),
        ] {
            let bytes = fs::read(keys.join(from)).unwrap();
            self.author.scene.write(to, bytes);
        }
    }

    fn layout(&self, name: &str, directory: &str) {
        let layout = testdata("layouts").join(name);
        copy(&layout, &self.author.scene.path(directory));
    }
}

pub(super) fn signer(name: &str) -> &'static Signer {
    match name {
        "acme" => Signer::acme(),
        "stranger" => Signer::stranger(),
        "hostile" => Signer::hostile(),
        "expired-since" => Signer::expired_since(),
        "expired-before" => Signer::expired_before(),
        "revoked" => Signer::revoked(),
        "retired" => Signer::retired(),
        _ => panic!("no signer is called `{name}`"),
    }
}
