//! Selects the files of a directory that belong to a module, and sorts them.

use std::collections::BTreeSet;

use super::Position;

/// A file of a module's directory.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its name, without directory.
    pub name: &'a str,
    /// The unparsed content.
    pub bytes: &'a [u8],
}

/// The file name extensions, each with the OpenTofu extension that takes precedence over it.
const ENDINGS: [(&str, Option<&str>); 8] = [
    (".tf", Some(".tofu")),
    (".tofu", None),
    (".tf.json", Some(".tofu.json")),
    (".tofu.json", None),
    (".tftest.hcl", Some(".tofutest.hcl")),
    (".tofutest.hcl", None),
    (".tftest.json", Some(".tofutest.json")),
    (".tofutest.json", None),
];

/// Whether clients read a file of this name as part of a module. They skip hidden files, and backup copies of editors have other endings.
pub fn is_configuration(name: &str) -> bool {
    is_read(name) && !is_test(name)
}

/// Whether clients read a file of this name, below the directory of a root module, as a test file.
pub fn is_test_file(name: &str) -> bool {
    is_read(name) && is_test(name)
}

fn is_read(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !name.starts_with('.') && split(name).is_some()
}

fn is_test(name: &str) -> bool {
    name.ends_with("test.hcl") || name.ends_with("test.json")
}

/// A name without its extension, and the extension that takes precedence.
fn split(name: &str) -> Option<(&str, Option<&'static str>)> {
    let of = |(ending, instead): &(&str, _)| Some((name.strip_suffix(*ending)?, *instead));
    ENDINGS.iter().find_map(of)
}

/// The files of the module, sorted by name, override files last, as clients read them.
pub(super) fn in_order<'a>(files: &'a [SourceFile<'a>]) -> Vec<&'a SourceFile<'a>> {
    let names: BTreeSet<&str> = files.iter().map(|file| file.name).collect();
    let counts = |file: &&SourceFile<'_>| {
        let is_replaced = |(stem, instead): (&str, Option<&str>)| {
            instead.is_some_and(|instead| names.contains(&*format!("{stem}{instead}")))
        };
        is_read(file.name) && !split(file.name).is_some_and(is_replaced)
    };
    let mut files: Vec<_> = files.iter().filter(counts).collect();
    files.sort_by_key(|file| (file.is_override(), file.name));
    files
}

impl SourceFile<'_> {
    /// Whether it is an override file, which changes the blocks of other files: `override.tf`, `…_override.tf`.
    pub(super) fn is_override(&self) -> bool {
        let stem = split(self.name).map_or("", |(stem, _)| stem);
        stem == "override" || stem.ends_with("_override")
    }

    /// The name by which `modules.json` knows the module of a run, if this is a test file. Clients shorten only `.tftest.hcl`.
    pub(super) fn name_of_call(&self, name: String) -> String {
        if !is_test(self.name) {
            return name;
        }
        let file = self.name.strip_suffix(".tftest.hcl").unwrap_or(self.name);
        format!("test.{}.{name}", file.replace('/', "."))
    }

    pub(super) fn is_test(&self) -> bool {
        is_test(self.name)
    }

    /// A place in it, for messages.
    pub(super) fn at(&self, line: Option<usize>) -> Position {
        let path = self.name.into();
        Position { path, line }
    }
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
