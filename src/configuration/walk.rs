//! The walk from the root module to all modules that it calls.
//!
//! Clients know a module by its *key*, the names of the calls that lead to it, such as `network.subnets`. They read a directory that is
//! called twice under both of its keys. The modules that it calls may then be in different directories, because `modules.json` has an
//! entry for each key. So the walk visits each key, and parses each directory once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::modules_json::InstalledModule;
use super::{Error, Position, Requirements, followed, joined, names, one_path};
use crate::address::Hostname;
use crate::config::module::{self, Module, ModuleCall, ModuleSource, SourceFile, is_configuration};
use crate::disk;
use crate::lockfile::Client;

/// The most calls of modules in one configuration. Large ones have some hundreds. Modules that each call the next one twice would double
/// them at each step.
const MOST_CALLS: usize = 10_000;

/// The longest key, in bytes. Real ones have some dozens. Modules that call each other in a circle would grow it without end; clients fail
/// when it is too long for the name of a file.
const LONGEST_KEY: usize = 1 << 10;

/// The most bytes of all files of one configuration. Large ones have some megabytes.
const LARGEST: u64 = 64 << 20;

/// A walk, and what it has found.
pub(super) struct Walk<'a> {
    pub(super) root: &'a Path,
    pub(super) client: Option<Client>,
    pub(super) default_host: &'a Hostname,
    /// The hosts that modules of a registry without host may have.
    pub(super) registries: Vec<Hostname>,
    pub(super) installed: BTreeMap<String, InstalledModule>,
    pub(super) found: Requirements,
    /// The calls of the modules that were read, by the canonical paths of the modules.
    pub(super) read: BTreeMap<PathBuf, Rc<BTreeMap<String, ModuleCall>>>,
    /// The bytes that were read.
    pub(super) size: u64,
}

/// A module that is called, or the root module.
struct Called {
    directory: PathBuf,
    caller: Option<Caller>,
    key: String,
    /// Whether the client has installed it, or would install it and all that it calls anew.
    is_installed: bool,
}

impl Called {
    /// The directory from which the paths in it lead on, taken as text. The client follows links of the root. It follows links of a local module
    /// when it installs it, but no links of a directory that is recorded in `modules.json`.
    fn base(&self) -> PathBuf {
        match self.is_installed && self.caller.is_some() {
            true => self.directory.clone(),
            false => followed(&self.directory),
        }
    }
}

/// The call of a module, for messages.
pub(super) struct Caller {
    /// The source, as written.
    pub(super) address: String,
    pub(super) position: Position,
}

impl Caller {
    fn of(module: &Called, call: &ModuleCall) -> Self {
        let (ModuleSource::Local(address)
        | ModuleSource::Elsewhere(address)
        | ModuleSource::Computed(address)) = &call.source;
        Self {
            address: address.clone(),
            position: call.position.below(&module.directory),
        }
    }
}

impl Walk<'_> {
    /// Reads all modules.
    pub(super) fn run(mut self) -> Result<Requirements, Error> {
        let mut pending = vec![Called {
            directory: self.root.to_owned(),
            caller: None,
            key: String::new(),
            is_installed: true,
        }];
        let mut count = 0;
        while let Some(called) = pending.pop() {
            let calls = self.calls(&called)?;
            count += calls.len();
            if count > MOST_CALLS {
                return Err(self.too_many("calls of modules", MOST_CALLS as u64));
            }
            for (name, call) in calls.iter() {
                match self.next(&called, name, call)? {
                    Ok(next) => pending.push(next),
                    Err(source) => {
                        self.found.not_followed.insert(source.to_owned());
                    }
                }
            }
        }
        Ok(self.found)
    }

    fn too_many(&self, what: &'static str, limit: u64) -> Error {
        Error::Many {
            directory: self.root.to_owned(),
            what,
            limit,
        }
    }

    /// The calls in a module. It is read once.
    fn calls(&mut self, called: &Called) -> Result<Rc<BTreeMap<String, ModuleCall>>, Error> {
        let path = one_path(&called.directory, called.caller.as_ref())?;
        if let Some(known) = self.read.get(&path) {
            return Ok(Rc::clone(known));
        }
        let is_root = called.caller.is_none();
        let mut module = self.module(&called.directory, is_root)?;
        let calls = Rc::new(std::mem::take(&mut module.calls));
        self.found.add(&module, &called.directory)?;
        if let Some(backend) = module.backend.filter(|_| is_root) {
            self.found.unread_state = Some(format!("state in the backend `{backend}`"));
        }
        self.read.insert(path, Rc::clone(&calls));
        Ok(calls)
    }

    /// Reads and parses the files of a module.
    fn module(&mut self, directory: &Path, is_root: bool) -> Result<Module, Error> {
        let names = names(directory, is_root, self.client)?;
        if !names.iter().any(|name| is_configuration(name)) {
            let directory = directory.to_owned();
            return Err(Error::Empty { directory });
        }
        let mut contents = Vec::new();
        for name in &names {
            let bytes = disk::read_regular(&directory.join(name), module::LARGEST as u64)?;
            self.size += bytes.len() as u64;
            if self.size > LARGEST {
                return Err(self.too_many("bytes", LARGEST));
            }
            contents.push(bytes);
        }
        let files = names.iter().zip(&contents);
        let files: Vec<_> = files
            .map(|(name, bytes)| SourceFile { name, bytes })
            .collect();
        let module = Module::read(&files, self.client, self.default_host);
        module.map_err(|source| Error::Module {
            directory: directory.to_owned(),
            source: Box::new(source),
        })
    }

    /// The module of a call; the source of the module if it is not installed.
    fn next<'c>(
        &self,
        caller: &Called,
        name: &str,
        call: &'c ModuleCall,
    ) -> Result<Result<Called, &'c str>, Error> {
        let key = match caller.key.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", caller.key),
        };
        if key.len() > LONGEST_KEY {
            let what = "bytes in the names of a chain of calls, as modules have that call each other in a circle";
            return Err(self.too_many(what, LONGEST_KEY as u64));
        }
        // The client forgets what is below a module that it installs anew, as it does if the directory is gone.
        let entry = self.installed.get(&key).filter(|entry| {
            let is_known = caller.is_installed && entry.belongs_to(call, &self.registries);
            is_known && entry.directory.is_dir()
        });
        let directory = match (entry, &call.source) {
            (Some(entry), _) => entry.directory.clone(),
            (None, ModuleSource::Local(path)) => joined(&caller.base(), path),
            (None, ModuleSource::Elsewhere(source) | ModuleSource::Computed(source)) => {
                return Ok(Err(source));
            }
        };
        Ok(Ok(Called {
            directory,
            caller: Some(Caller::of(caller, call)),
            key,
            is_installed: entry.is_some(),
        }))
    }
}
