//! The findings of `verify` and `doctor`: as lines, as JSON, as JUnit, and as annotations of a job of GitHub Actions.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use clap::ValueEnum;
use handlebars::html_escape;
use serde_json::{Value, json};

use tfoci::address::ProviderAddr;
use tfoci::error::counted;
use tfoci::event::Subject;
use tfoci::finding::{Code, Finding, Gravity};

use super::Ending;
use super::arguments::Format;
use super::json::{SCHEMA, object};
use super::printer::Printer;
use super::render::fill;

/// JUnit's XML, whose text handlebars escapes.
const JUNIT: &str = include_str!("../../templates/junit.xml.hbs");

/// Which findings fail a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(super) enum FailOn {
    /// Errors only
    Error,
    /// Errors, and differences from the origin
    #[default]
    Drift,
    /// Any finding
    Warning,
}

/// What a command has looked at.
pub(super) struct Scope {
    pub(super) providers: Vec<ProviderAddr>,
    pub(super) versions: usize,
    /// The versions whose required attestation was verified, with the id of the mirror's key.
    pub(super) attested: Vec<(Subject, String)>,
}

impl Scope {
    fn document(&self) -> Value {
        let attested = self.attested.iter().map(|(subject, key)| {
            json!({"provider": subject.provider, "version": subject.version, "key": key})
        });
        let attested: Vec<Value> = attested.collect();
        json!({
            "providers": self.providers,
            "versions": self.versions,
            "attested": (!attested.is_empty()).then_some(attested),
        })
    }
}

/// What a command has found.
pub(super) struct Findings {
    pub(super) command: &'static str,
    pub(super) checked: Scope,
    /// What was looked at, such as `412 versions of 25 providers`.
    pub(super) extent: String,
    pub(super) found: Vec<Finding>,
    /// The lines for people, if they tell more than the findings.
    pub(super) lines: Option<Vec<String>>,
    pub(super) fail_on: FailOn,
}

impl FailOn {
    /// Whether a finding fails the command.
    fn fails(self, code: Code) -> bool {
        self >= match code.gravity() {
            Gravity::Untrusted | Gravity::Broken => Self::Error,
            Gravity::Drift => Self::Drift,
            Gravity::Warning => Self::Warning,
        }
    }
}

impl Findings {
    /// Prints the findings, the worst first, and then how many there are.
    pub(super) fn print(mut self, printer: &Printer) -> Ending {
        self.sort();
        let summary = self.summary();
        for finding in &self.found {
            printer.annotate(finding.severity, &line(finding));
        }
        match printer.format {
            Format::Text => {
                for (subject, key) in &self.checked.attested {
                    printer.result(&format!("{subject}: attested {key}"));
                }
                let lines = self.lines.take().unwrap_or_else(|| self.lines());
                lines.iter().for_each(|line| printer.result(line));
                printer.result(&summary);
            }
            Format::Json => printer.document(&object([json!({
                "schema": SCHEMA,
                "checked": self.checked.document(),
                "findings": self.found,
            })])),
            Format::Junit | Format::Csv => printer.own_text(&self.junit(printer)),
        }
        let failing = self.found.iter().map(|finding| finding.code);
        let failing = failing.filter(|code| self.fail_on.fails(*code));
        Ending::Done.and(failing.map(Code::category))
    }

    /// Sorts the worst first, then by provider and version.
    fn sort(&mut self) {
        self.found.sort_by_cached_key(|one| {
            let (provider, version) = (one.provider.clone(), Reverse(one.version.clone()));
            let (gravity, platform) = (one.code.gravity(), one.platform.clone());
            (gravity, provider, version, one.code, platform)
        });
        self.checked.providers.sort();
        self.checked.providers.dedup();
        let attested = &mut self.checked.attested;
        attested
            .sort_by_cached_key(|(one, _)| (one.provider.clone(), Reverse(one.version.clone())));
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut findings = self.found.iter().peekable();
        while let Some(finding) = findings.next() {
            lines.push(format!("{}: {}", finding.severity.as_str(), line(finding)));
            // Many findings of a version have one fix, which stands below the last of them.
            let is_last = findings.peek().is_none_or(|next| next.fix != finding.fix);
            lines.extend(details(finding, is_last).map(|line| format!("  {line}")));
        }
        lines
    }

    /// `412 versions of 25 providers: 1 error, 3 warnings`
    fn summary(&self) -> String {
        let count = |is: &dyn Fn(Gravity) -> bool| {
            let gravities = self.found.iter().map(|finding| finding.code.gravity());
            gravities.filter(|gravity| is(*gravity)).count()
        };
        let counts = [
            (count(&|gravity| gravity < Gravity::Warning), "error"),
            (count(&|gravity| gravity == Gravity::Warning), "warning"),
            (count(&|gravity| gravity == Gravity::Drift), "difference"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<_> = counts.map(|(count, noun)| counted(count, noun)).collect();
        match counts.is_empty() {
            true => format!("{}: nothing is wrong", self.extent),
            false => format!("{}: {}", self.extent, counts.join(", ")),
        }
    }

    /// One test case for each provider and code. Findings that do not fail the command are the output of their case.
    fn junit(&self, printer: &Printer) -> String {
        let mut cases: BTreeMap<(String, &str), [String; 2]> = BTreeMap::new();
        for provider in &self.checked.providers {
            cases.insert((provider.to_string(), self.command), Default::default());
        }
        for finding in &self.found {
            let provider = finding.provider.as_ref().map(ToString::to_string);
            let case = (provider.unwrap_or_default(), finding.code.as_str());
            let [failure, output] = cases.entry(case).or_default();
            let text = match self.fail_on.fails(finding.code) {
                true => failure,
                false => output,
            };
            text.push_str(&printer.neutral(&line(finding)));
            text.push('\n');
        }
        let failures = cases.values().filter(|[failure, _]| !failure.is_empty());
        let failures = failures.count();
        let cases = cases.iter().map(|((provider, code), [failure, output])| {
            json!({"provider": provider, "code": code, "failure": failure, "output": output})
        });
        let cases: Vec<Value> = cases.collect();
        let suite = json!({"command": self.command, "tests": cases.len(), "failures": failures, "cases": cases});
        fill(JUNIT, &[], html_escape, &suite)
    }
}

/// What was found, and its code.
pub(super) fn message(finding: &Finding) -> String {
    format!("{} [{}]", finding.message, finding.code.as_str())
}

/// Where it is, and what helps.
pub(super) fn details(finding: &Finding, with_fix: bool) -> impl Iterator<Item = String> {
    let place = finding.reference.iter().map(|place| format!("in {place}"));
    let fix = finding.fix.iter().filter(move |_| with_fix);
    place.chain(fix.flat_map(|fix| std::iter::once(fix.text.to_owned()).chain(fix.command.clone())))
}

/// The provider, version and package of a finding.
fn subject(finding: &Finding) -> Option<Subject> {
    Some(Subject {
        provider: finding.provider.clone()?,
        version: finding.version.clone(),
        platform: finding.platform.clone(),
        destination: None,
    })
}

fn line(finding: &Finding) -> String {
    let subject = subject(finding).map(|subject| format!("{subject}: "));
    format!("{}{}", subject.unwrap_or_default(), message(finding))
}

/// A word of a command for a shell.
pub(super) fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=,+%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expected) in [
            ("oci-layout:mirror", "oci-layout:mirror"),
            ("ghcr.io/acme/${type}", "'ghcr.io/acme/${type}'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(shell(word), expected);
        }
    }
}
