//! Reads facts from files in JSON, where labels are the names of objects and every block may be a list of blocks.

use super::error::Located;
use super::{Backend, Fact, FileError, ModuleSource, Statement, Target, first_name, in_nfc};
use crate::syntax::outline::Expression;
use crate::syntax::{Section, Value};

/// The statements of a file about providers.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Fact>, Located> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let document: Value =
        serde_json::from_slice(bytes).map_err(|error| (Some(error.line()), FileError::Json))?;
    let mut reader = Reader::default();
    for root in sections(&document).map_err(|mistake| (None, mistake))? {
        reader.read(root).map_err(|mistake| (None, mistake))?;
    }
    Ok(reader.facts)
}

/// A block, or a list of blocks.
fn sections(value: &Value) -> Result<Vec<&Section>, FileError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Section(section) => Ok(vec![section]),
        Value::List(values) => values.iter().map(section).collect(),
        _ => Err(FileError::NotObject),
    }
}

fn section(value: &Value) -> Result<&Section, FileError> {
    match value {
        Value::Section(section) => Ok(section),
        _ => Err(FileError::NotObject),
    }
}

/// The blocks with one label. A member `//` is a comment.
fn labelled(value: &Value) -> Result<Vec<(&str, &Value)>, FileError> {
    let sections = sections(value)?.into_iter();
    let members = sections.flat_map(Section::members);
    Ok(members.filter(|(name, _)| *name != "//").collect())
}

fn text(section: &Section, name: &'static str) -> Result<Option<String>, FileError> {
    match section.value(name) {
        None => Ok(None),
        Some(Value::Text(text)) => Ok(Some(in_nfc(text))),
        Some(_) => Err(FileError::NotText { name }),
    }
}

/// The source of a called module. OpenTofu evaluates templates, and Terraform takes them as they are.
fn source(text: String) -> ModuleSource {
    match is_template(&text) {
        true => ModuleSource::Computed(text),
        false => ModuleSource::of(text),
    }
}

fn is_template(text: &str) -> bool {
    text.contains("${") || text.contains("%{")
}

#[derive(Default)]
struct Reader {
    facts: Vec<Fact>,
}

impl Reader {
    fn push(&mut self, statement: Statement) {
        let line = None;
        self.facts.push(Fact { line, statement });
    }

    fn read(&mut self, root: &Section) -> Result<(), FileError> {
        for (name, value) in root.members() {
            match name {
                "terraform" => self.read_settings(value)?,
                "provider" => self.read_configured(value)?,
                "resource" | "data" | "ephemeral" | "action" => self.read_used(name, value)?,
                "check" => {
                    for (_, check) in labelled(value)? {
                        for check in sections(check)? {
                            check
                                .value("data")
                                .map_or(Ok(()), |data| self.read_used("data", data))?;
                        }
                    }
                }
                "import" => self.read_imported(value)?,
                "module" => self.read_calls(value)?,
                "run" => {
                    for (run, blocks) in labelled(value)? {
                        for block in sections(blocks)? {
                            for (_, module) in block.members().filter(|(name, _)| *name == "module")
                            {
                                self.read_call(run, module)?;
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_settings(&mut self, value: &Value) -> Result<(), FileError> {
        for settings in sections(value)? {
            self.read_backends(settings)?;
            let Some(required) = settings.value("required_providers") else {
                continue;
            };
            for block in sections(required)? {
                self.push(Statement::RequiredProviders);
                for (name, value) in block.members().filter(|(name, _)| *name != "//") {
                    let name = name.to_owned();
                    let (source, version) = match value {
                        Value::Text(version) => (None, Some(version.clone())),
                        Value::Section(body) => (text(body, "source")?, text(body, "version")?),
                        _ => return Err(FileError::Requirement { name }),
                    };
                    self.push(Statement::Required {
                        name,
                        source,
                        version,
                    });
                }
            }
        }
        Ok(())
    }

    fn read_configured(&mut self, value: &Value) -> Result<(), FileError> {
        for (name, blocks) in labelled(value)? {
            for block in sections(blocks)? {
                self.push(Statement::Configured {
                    name: name.to_owned(),
                    alias: text(block, "alias")?,
                    version: text(block, "version")?,
                });
            }
        }
        Ok(())
    }

    fn read_used(&mut self, kind: &str, value: &Value) -> Result<(), FileError> {
        for (type_name, blocks) in labelled(value)? {
            for (name, blocks) in labelled(blocks)? {
                for block in sections(blocks)? {
                    let provider = text(block, "provider")?;
                    self.push(Statement::Used {
                        key: [kind, type_name, name].map(str::to_owned),
                        provider: provider.as_deref().map(first_name),
                    });
                }
            }
        }
        Ok(())
    }

    fn read_imported(&mut self, value: &Value) -> Result<(), FileError> {
        for block in sections(value)? {
            let to = text(block, "to")?.unwrap_or_default();
            if let Some(target) = Target::of(&Expression::of(&to)) {
                let provider = text(block, "provider")?;
                let provider = provider.as_deref().map(first_name);
                self.push(Statement::Imported { target, provider });
            }
        }
        Ok(())
    }

    fn read_backends(&mut self, settings: &Section) -> Result<(), FileError> {
        for (name, blocks) in labelled(settings.value("backend").unwrap_or(&Value::Null))? {
            for block in sections(blocks)? {
                let text = |name| {
                    let text = text(block, name)?;
                    Ok::<_, FileError>(
                        text.map(|text| Some(text).filter(|text| !is_template(text))),
                    )
                };
                let backend = Backend::of(name, text("path")?, text("workspace_dir")?);
                self.push(Statement::Backend(backend));
            }
        }
        if settings.value("cloud").is_some() {
            self.push(Statement::Backend(Backend::of("cloud", None, None)));
        }
        Ok(())
    }

    fn read_calls(&mut self, value: &Value) -> Result<(), FileError> {
        for (name, blocks) in labelled(value)? {
            self.read_call(name, blocks)?;
        }
        Ok(())
    }

    fn read_call(&mut self, name: &str, blocks: &Value) -> Result<(), FileError> {
        for block in sections(blocks)? {
            self.push(Statement::Call {
                name: name.to_owned(),
                source: text(block, "source")?.map(source),
                version: text(block, "version")?.map(|text| match is_template(&text) {
                    true => Err(text),
                    false => Ok(text),
                }),
            });
        }
        Ok(())
    }
}
