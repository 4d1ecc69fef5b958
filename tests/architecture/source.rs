//! The source files of the crate as a tree of modules, and the paths that each file names.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The names of a module and those around it, outermost first: `["store", "layout"]`.
pub type Module = Vec<String>;

/// A path that a file names.
#[derive(Debug)]
pub struct Mention {
    pub file: PathBuf,
    pub line: usize,
    /// The module around it.
    within: Module,
    path: Vec<String>,
}

/// Every module of the crate but those of unit tests.
#[derive(Debug, Default)]
pub struct Sources {
    modules: BTreeSet<Module>,
    mentions: Vec<Mention>,
    /// The names that `use` declarations introduce: module and name, and the path that the name stands for.
    imports: BTreeMap<(Module, String), Vec<String>>,
}

impl Sources {
    /// Reads every file below a directory.
    pub fn read(directory: &Path) -> Self {
        let text = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
        Self::of(rust_files(directory).into_iter().map(text))
    }

    /// Reads files with their contents. Their paths begin with the directory of the crate's root.
    pub fn of(files: impl IntoIterator<Item = (PathBuf, String)>) -> Self {
        let mut sources = Self::default();
        let mut tests = Vec::new();
        for (file, text) in files {
            let module = module(&file);
            let tokens: TokenStream = text.parse().unwrap();
            let mut reader = Reader {
                file: &file,
                sources: &mut sources,
                tests: &mut tests,
            };
            reader.module(tokens, &module);
        }
        sources
            .mentions
            .retain(|mention| !tests.iter().any(|test| mention.within.starts_with(test)));
        sources
    }

    /// Each path of the crate that a file names, with the module around it and the module that it leads to.
    pub fn mentions(&self) -> impl Iterator<Item = (&Mention, &Module, Module)> {
        let resolved = |mention| self.resolve(mention).map(|to| (mention, to));
        self.mentions
            .iter()
            .filter_map(resolved)
            .map(|(mention, to)| (mention, &mention.within, to))
    }

    fn resolve(&self, mention: &Mention) -> Option<Module> {
        self.walk(mention.within.clone(), &mention.path, 0)
    }

    /// Follows a path from a module, through imports that give a name to something else.
    fn walk(&self, from: Module, path: &[String], depth: usize) -> Option<Module> {
        let mut at = from;
        for (place, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => at.clear(),
                "super" => drop(at.pop()),
                "self" => {}
                name => {
                    let child = [&at[..], &[name.to_owned()]].concat();
                    if self.modules.contains(&child) {
                        at = child;
                        continue;
                    }
                    // An item of this module, unless the module has it from elsewhere.
                    let import = self.imports.get(&(at.clone(), name.to_owned()));
                    let import = import.filter(|_| depth < 8 && place > 0);
                    return match import {
                        Some(target) => self.walk(at.clone(), target, depth + 1).or(Some(at)),
                        None if place == 0 => None,
                        None => Some(at),
                    };
                }
            }
        }
        Some(at)
    }
}

/// Reads one file.
struct Reader<'s> {
    file: &'s Path,
    sources: &'s mut Sources,
    /// Modules of unit tests, which may name anything.
    tests: &'s mut Vec<Module>,
}

impl Reader<'_> {
    fn module(&mut self, tokens: TokenStream, module: &[String]) {
        self.sources.modules.insert(module.to_vec());
        self.tokens(tokens, module);
    }

    fn tokens(&mut self, tokens: TokenStream, module: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at + 1..];
            at += 1;
            match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' && is_for_tests(rest) => {
                    at += self.test_item(rest, module);
                }
                // Not the `use<'a>` of a type.
                TokenTree::Ident(ident)
                    if ident == "use" && !rest.first().is_some_and(|next| is_punct(next, '<')) =>
                {
                    let end = rest.iter().position(|token| is_punct(token, ';'));
                    let end = end.unwrap_or(rest.len());
                    self.imports(&rest[..end], &[], module);
                    at += end;
                }
                TokenTree::Ident(ident) if ident == "mod" => {
                    if let [TokenTree::Ident(name), TokenTree::Group(body), ..] = rest {
                        self.module(body.stream(), &child(module, name));
                        at += 2;
                    }
                }
                TokenTree::Ident(ident)
                    if ident == "crate" || ident == "super" || ident == "self" =>
                {
                    let (path, length) = path(&tokens[at - 1..]);
                    at += length - 1;
                    if path.len() > 1 {
                        self.mention(token, path, module);
                    }
                }
                TokenTree::Group(group) => self.tokens(group.stream(), module),
                _ => {}
            }
        }
    }

    /// Skips an item of unit tests. Returns its length.
    fn test_item(&mut self, rest: &[TokenTree], module: &[String]) -> usize {
        let is_end = |token: &TokenTree| match token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            token => is_punct(token, ';'),
        };
        let end = rest
            .iter()
            .position(is_end)
            .map_or(rest.len(), |end| end + 1);
        for pair in rest[..end].windows(2) {
            if let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair
                && word == "mod"
            {
                self.tests.push(child(module, name));
            }
        }
        end
    }

    /// The paths of a `use` declaration, each with the name that it gets.
    fn imports(&mut self, tokens: &[TokenTree], before: &[String], module: &[String]) {
        for item in tokens.split(|token| is_punct(token, ',')) {
            let (path, length) = path(item);
            let whole = [before, &path].concat();
            let Some(first) = item.first() else {
                continue;
            };
            let name = match &item[length..] {
                [TokenTree::Group(group)] => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    self.imports(&inner, &whole, module);
                    continue;
                }
                [TokenTree::Ident(_), TokenTree::Ident(name)] => name.to_string(),
                _ => whole[whole.len() - 1].clone(),
            };
            let key = (module.to_vec(), name);
            self.sources.imports.insert(key, whole.clone());
            self.mention(first, whole, module);
        }
    }

    fn mention(&mut self, token: &TokenTree, path: Vec<String>, module: &[String]) {
        self.sources.mentions.push(Mention {
            file: self.file.to_owned(),
            line: token.span().start().line,
            within: module.to_vec(),
            path,
        });
    }
}

/// The names at the beginning of tokens that `::` joins, and how many tokens they are, a last `::` included.
fn path(tokens: &[TokenTree]) -> (Vec<String>, usize) {
    let mut names = Vec::new();
    let mut length = 0;
    while let Some(TokenTree::Ident(name)) = tokens.get(length) {
        names.push(name.to_string());
        length += 1;
        let joined = tokens.get(length..length + 2);
        if !joined.is_some_and(|pair| pair.iter().all(|token| is_punct(token, ':'))) {
            break;
        }
        length += 2;
    }
    (names, length)
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

/// Whether an attribute follows that makes the next item one of unit tests.
pub fn is_for_tests(rest: &[TokenTree]) -> bool {
    let Some(TokenTree::Group(attribute)) = rest.first() else {
        return false;
    };
    let attribute = attribute.to_string().replace(' ', "");
    attribute.starts_with("[cfg(") && attribute.contains("(test")
}

fn child(module: &[String], name: &impl ToString) -> Module {
    [module, &[name.to_string()]].concat()
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are the module `a::b`.
fn module(file: &Path) -> Module {
    let path = file.with_extension("");
    let names = path.iter().skip(1).map(|name| name.to_str().unwrap());
    names
        .filter(|name| !["lib", "main", "mod"].contains(name))
        .map(str::to_owned)
        .collect()
}

/// Every file with Rust in it below a directory, in order.
pub fn rust_files(directory: &Path) -> Vec<PathBuf> {
    files(directory, &["rs"])
}

/// Every file below a directory with one of these extensions, in order. Inputs and results of the fuzzer are no text.
pub fn files(directory: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let is_one_of = |name: Option<&OsStr>, names: &[&str]| {
        name.is_some_and(|name| names.iter().any(|one| name == *one))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if is_one_of(path.file_name(), &["corpus", "artifacts", "target"]) {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path, extensions));
        } else if is_one_of(path.extension(), extensions) {
            found.push(path);
        }
    }
    found.sort();
    found
}
