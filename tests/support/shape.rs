//! The shapes of JSON documents: exact names, and the kind of each value.

use serde_json::Value;

/// Asserts that a document has the shape of an example: the same members, with values of the same kind. Members whose name ends in `?` in
/// the example may be absent. Every item of a list must have the shape of the first item in the example.
#[track_caller]
pub fn assert_shape(document: &Value, example: &Value) {
    if let Err(problem) = compare("", document, example) {
        panic!("{problem}\n{document:#}");
    }
}

fn compare(at: &str, document: &Value, example: &Value) -> Result<(), String> {
    match (document, example) {
        (Value::Object(document), Value::Object(example)) => {
            let name = |name: &str| name.trim_end_matches('?').to_owned();
            for key in document.keys() {
                if !example.keys().any(|known| name(known) == *key) {
                    return Err(format!("{at}/{key} is unknown"));
                }
            }
            for (key, example) in example {
                match document.get(&name(key)) {
                    Some(value) => compare(&format!("{at}/{}", name(key)), value, example)?,
                    None if key.ends_with('?') => {}
                    None => return Err(format!("{at}/{key} is missing")),
                }
            }
            Ok(())
        }
        (Value::Array(document), Value::Array(example)) => document
            .iter()
            .try_for_each(|item| compare(&format!("{at}[]"), item, &example[0])),
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) => Ok(()),
        _ => Err(format!("{at} is of another kind")),
    }
}
