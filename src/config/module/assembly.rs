//! Combines the statements of the files into a module.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::files::SourceFile;
use super::{
    Backend, Error, Fact, FileError, Module, ModuleCall, ModuleSource, Requirement, Stated,
    Statement, Target,
};
use crate::address::{self, Hostname, ProviderAddr};
use crate::constraint::{self, ConstraintError, VersionConstraints};
use crate::lockfile::Client;

/// The namespace of providers that are only named by their type.
const IMPLIED_NAMESPACE: &str = "hashicorp";

/// The name of the provider that is part of the client, unless `required_providers` redefines it.
const BUILT_IN: &str = "terraform";

/// The statements that were read so far.
pub(super) struct Assembly<'a> {
    client: Option<Client>,
    default_host: &'a Hostname,
    required_at: Option<Position>,
    /// By name; `None` for a provider that is part of the client.
    required: BTreeMap<String, Option<Requirement>>,
    /// By name and alias.
    configured: BTreeMap<(String, Option<String>), (VersionConstraints, Position)>,
    used: BTreeMap<[String; 3], Used>,
    /// Each on its own, since several may have the same target.
    imported: Vec<(Target, Used)>,
    /// By name.
    calls: BTreeMap<String, Call>,
    backend: Option<Backend>,
}

/// The file and line of a statement, for messages.
struct Position {
    file: String,
    line: Option<usize>,
}

/// The use of a provider under a local name, and the place of its first use.
struct Used {
    provider: Option<String>,
    place: Position,
}

/// A `module` block. Either argument may be in another file.
#[derive(Default)]
struct Call {
    source: Option<(ModuleSource, Position)>,
    version: Option<Result<String, String>>,
}

impl Position {
    fn refuse(&self, mistake: impl Into<FileError>) -> Error {
        Error {
            file: self.file.clone(),
            line: self.line,
            mistake: mistake.into(),
        }
    }

    fn states(&self, constraints: &VersionConstraints) -> Stated {
        Stated {
            file: self.file.clone(),
            line: self.line,
            constraints: constraints.clone(),
        }
    }
}

impl<'a> Assembly<'a> {
    pub(super) fn new(client: Option<Client>, default_host: &'a Hostname) -> Self {
        Self {
            client,
            default_host,
            required_at: None,
            required: BTreeMap::new(),
            configured: BTreeMap::new(),
            used: BTreeMap::new(),
            imported: Vec::new(),
            calls: BTreeMap::new(),
            backend: None,
        }
    }

    /// Adds a statement of a file. Statements of override files must come last.
    pub(super) fn add(&mut self, file: &SourceFile<'_>, fact: Fact) -> Result<(), Error> {
        let place = Position {
            file: file.name.to_owned(),
            line: fact.line,
        };
        match fact.statement {
            Statement::RequiredProviders if file.is_override() => {}
            Statement::RequiredProviders => match &self.required_at {
                None => self.required_at = Some(place),
                Some(Position { file, line }) => {
                    let (file, line) = (file.clone(), *line);
                    return Err(place.refuse(FileError::Several { file, line }));
                }
            },
            Statement::Required {
                name,
                source,
                version,
            } => {
                let source = source.as_deref().unwrap_or(&name);
                let source = self.source(source).map_err(|error| place.refuse(error))?;
                let constraints = constraints(version, &place)?;
                let requirement = source.map(|source| Requirement {
                    source,
                    stated: vec![place.states(&constraints)],
                });
                self.required.insert(name, requirement);
            }
            Statement::Configured {
                name,
                alias,
                version,
            } => {
                let constraints = constraints(version, &place)?;
                let alias = match file.is_test() {
                    // Terraform takes no provider from test files.
                    true if self.client == Some(Client::Terraform) => return Ok(()),
                    // Each has configurations of its own.
                    true => Some(format!("{}/{}", file.name, alias.unwrap_or_default())),
                    false => alias,
                };
                self.add_configured((name, alias), constraints, place);
            }
            Statement::Used { key, provider } => {
                let is_override = file.is_override();
                self.add_used(key, Used { provider, place }, is_override);
            }
            Statement::Imported { target, provider } => {
                self.imported.push((target, Used { provider, place }));
            }
            Statement::Call {
                name,
                source,
                version,
            } => {
                let call = self.calls.entry(file.name_of_call(name)).or_default();
                let source = source.map(|source| (source, place));
                call.source = source.or(call.source.take());
                call.version = version.or(call.version.take());
            }
            Statement::Backend(backend) => self.backend = Some(backend),
        }
        Ok(())
    }

    fn add_configured(
        &mut self,
        key: (String, Option<String>),
        constraints: VersionConstraints,
        place: Position,
    ) {
        let known = self.configured.entry(key);
        let known = known.or_insert((VersionConstraints::any(), place));
        if !constraints.is_any() {
            known.0 = constraints;
        }
    }

    fn add_used(&mut self, mut key: [String; 3], used: Used, is_override: bool) {
        let [kind, ..] = &mut key;
        if is_override {
            // Terraform ignores ephemeral resources in override files. Where it is not known which block applies, the providers of both count.
            let (is_ignored, is_open) = match kind.as_str() {
                "ephemeral" => (
                    self.client == Some(Client::Terraform),
                    self.client.is_none(),
                ),
                "action" => (false, true),
                _ => (false, false),
            };
            if is_ignored || is_open && used.provider.is_none() {
                return;
            }
            if is_open {
                // A key of its own keeps the provider of the other block.
                kind.insert_str(0, "overridden ");
            }
        }
        match self.used.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(used);
            }
            Entry::Occupied(mut known) => {
                let known = &mut known.get_mut().provider;
                *known = used.provider.or(known.take());
            }
        }
    }

    /// Whether an import requires a provider that its resource does not. In Terraform, an import into a module or of a resource that is there
    /// uses the provider of the resource.
    fn requires(&self, import: &Target) -> bool {
        let key = ["resource", &import.type_name, &import.name].map(str::to_owned);
        let is_known = import.is_in_module || self.used.contains_key(&key);
        !(is_known && self.client == Some(Client::Terraform))
    }

    /// Parses a provider source: a type, a namespace and type, or a full address. `None` if the provider is part of the client.
    fn source(&self, text: &str) -> Result<Option<ProviderAddr>, address::Error> {
        let address = if text.contains('/') || text.is_empty() {
            ProviderAddr::parse(text, self.default_host)
        } else if text == BUILT_IN {
            return Ok(None);
        } else {
            ProviderAddr::new(self.default_host.clone(), IMPLIED_NAMESPACE, text)
        };
        match address {
            Ok(address)
                if self.client == Some(Client::OpenTofu) && address.namespace().contains('_') =>
            {
                Err(address::Error::Namespace {
                    name: address.namespace().to_owned(),
                    kind: address::name::NameErrorKind::Underscore,
                })
            }
            Ok(address) => Ok(Some(address)),
            Err(address::Error::BuiltIn { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The module that results from all statements.
    pub(super) fn finish(mut self) -> Result<Module, Error> {
        let mut imported = std::mem::take(&mut self.imported);
        imported.retain(|(target, _)| self.requires(target));
        let imported = imported.into_iter();
        let imported = imported.map(|(target, used)| (target.type_name, used));
        let used = std::mem::take(&mut self.used).into_iter();
        let used = used.map(|([_, type_name, _], used)| (type_name, used));
        for (type_name, used) in used.chain(imported) {
            let implied = type_name.split('_').next().unwrap_or_default();
            let name = used.provider.unwrap_or_else(|| implied.to_owned());
            self.require(&name, VersionConstraints::any(), &used.place)?;
        }
        for ((name, _), (constraints, place)) in std::mem::take(&mut self.configured) {
            self.require(&name, constraints, &place)?;
        }
        let required = self.required.into_iter();
        // Clients refuse a call without source.
        let calls = self.calls.into_iter().filter_map(|(name, call)| {
            let (source, Position { file, line }) = call.source?;
            let call = ModuleCall {
                source,
                version: call.version,
                file,
                line,
            };
            Some((name, call))
        });
        Ok(Module {
            requirements: required
                .filter_map(|(name, one)| Some((name, one?)))
                .collect(),
            calls: calls.collect(),
            backend: self.backend,
        })
    }

    /// Adds constraints to the provider that has this local name.
    fn require(
        &mut self,
        name: &str,
        constraints: VersionConstraints,
        place: &Position,
    ) -> Result<(), Error> {
        if !self.required.contains_key(name) {
            let source = self.source(name).map_err(|error| place.refuse(error))?;
            let requirement = source.map(|source| Requirement {
                source,
                stated: Vec::new(),
            });
            self.required.insert(name.to_owned(), requirement);
        }
        if let Some(Some(known)) = self.required.get_mut(name) {
            // Hundreds of resources may use one provider.
            if known.stated.is_empty() || !constraints.is_any() {
                known.stated.push(place.states(&constraints));
            }
        }
        Ok(())
    }
}

fn constraints(version: Option<String>, place: &Position) -> Result<VersionConstraints, Error> {
    let Some(version) = version else {
        return Ok(VersionConstraints::any());
    };
    let refuse = |error: constraint::Error| place.refuse(error);
    let constraints: VersionConstraints = version.parse().map_err(refuse)?;
    if constraints.is_any() {
        let (text, mistake) = (version, ConstraintError::Malformed);
        return Err(refuse(constraint::Error { text, mistake }));
    }
    Ok(constraints)
}
