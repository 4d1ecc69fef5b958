//! Markers with `~`, which strip white space from the adjacent literal text.

use hcl::edit::template::{Directive, Element, IfDirective};

/// Whether an element strips the text before it, and the text after it.
pub(super) fn of(element: &Element) -> (bool, bool) {
    let (first, last) = match element {
        Element::Literal(_) => return (false, false),
        Element::Interpolation(interpolation) => (interpolation.strip, interpolation.strip),
        Element::Directive(directive) => match directive.as_ref() {
            Directive::If(choice) => (choice.if_expr.strip, choice.endif_expr.strip),
            Directive::For(each) => (each.for_expr.strip, each.endfor_expr.strip),
        },
    };
    (first.strip_start(), last.strip_end())
}

/// Whether the markers of `%{ if }` strip the beginning and end of each branch.
pub(super) fn inside_if(choice: &IfDirective) -> ((bool, bool), (bool, bool)) {
    let opening = choice.if_expr.strip;
    let closing = choice.endif_expr.strip;
    let middle = choice
        .else_expr
        .as_ref()
        .map_or(closing, |other| other.strip);
    (
        (opening.strip_end(), middle.strip_start()),
        (middle.strip_end(), closing.strip_start()),
    )
}

/// Literal text without stripped white space. Clients treat each line as a text of its own, so only the adjacent line is stripped,
/// including its line break.
pub(super) fn literal(text: &str, before: bool, behind: bool) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if before && let Some(first) = lines.first_mut() {
        *first = first.trim_start();
    }
    if behind && let Some(last) = lines.last_mut() {
        *last = last.trim_end();
    }
    lines.concat()
}
