//! Tests of accepted documents, refused documents and error messages.

use super::*;
use crate::error::Category;

#[test]
fn a_member_twice_in_any_letter_case_is_refused_even_if_one_is_null() {
    for (text, first, second) in [
        (r#"{"size":1,"size":1}"#, "size", "size"),
        (r#"{"Size":1,"size":2}"#, "Size", "size"),
        ("{\"size\":1,\"\u{17f}IZE\":null}", "size", "\u{17f}IZE"),
        (r#"{"\u017fize":null,"size":null}"#, "\u{17f}ize", "size"),
    ] {
        let error = Object::parse(text.as_bytes())
            .unwrap()
            .integer("size")
            .unwrap_err();
        assert_eq!(error.category(), Category::Untrusted, "{text}");
        assert_eq!(
            error.to_string(),
            format!("an object has the members `{first}` and `{second}`")
        );
    }
    let mut object =
        Object::parse("{\"\u{212a}ey\":1,\"other\":1,\"other\":2}".as_bytes()).unwrap();
    assert_eq!(
        (object.integer("key").unwrap(), object.is_lenient()),
        (1, true)
    );
    assert_eq!(object.into_rest().len(), 2);
}

#[test]
fn errors_name_the_object_from_the_outside_in() {
    let mut object = Object::parse(
        br#"{"manifests":[{},{"platform":{"os":"a","OS":"b"}}],"x":{"y":[1,{"z":1,"z":1}]}}"#,
    )
    .unwrap();
    let error = object
        .list("manifests", 2, |item| {
            Object::of(item)?.object("platform", |mut platform| platform.text("os"))
        })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`manifests`: item 2: `platform`: an object has the members `os` and `OS`"
    );
    let error = object
        .object("x", |mut x| {
            x.list("y", 2, |item| match item.get() {
                "1" => Ok(()),
                _ => Object::of(item)?.peek("z").map(|_| ()),
            })
        })
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "`x`: `y`: item 2: an object has the members `z` and `z`"
    );
}

#[test]
fn absent_and_null_are_the_same_and_letter_case_is_noted() {
    let mut object = Object::parse(br#"{"Size":2,"other":null}"#).unwrap();
    assert!(object.list("other", 1, |_| Ok(())).unwrap().is_empty());
    assert_eq!(object.text("absent").unwrap(), "");
    assert!(!object.is_lenient());
    assert_eq!(object.integer("size").unwrap(), 2);
    assert!(object.is_lenient());
}

#[test]
fn a_wrong_type_is_refused_by_the_name_of_its_member() {
    let mut object = Object::parse(br#"{"size":"1","a":{"b":{"c":1}}}"#).unwrap();
    assert_eq!(
        object.integer("size").unwrap_err().to_string(),
        "`size`: expected a whole number"
    );
    let nested = object.map("a", 9, |value| Object::of(value)?.text("c"));
    assert_eq!(
        nested.unwrap_err().to_string(),
        "`a`: `b`: `c`: expected a text"
    );
}

#[test]
fn names_of_a_map_are_data_and_none_occurs_twice() {
    let map = |text: &str| {
        let mut object = Object::parse(text.as_bytes()).unwrap();
        let map = object.map("a", 2, |value| Ok(value.get().to_owned()));
        map.map_err(|error| error.to_string())
    };
    assert_eq!(map(r#"{"a":{"X":1,"x":2}}"#).unwrap().len(), 2);
    assert!(map(r#"{"a":{"x":1,"\u0078":1}}"#).is_err());
    assert_eq!(
        map(r#"{"a":{"x":1,"y":1,"z":1}}"#).unwrap_err(),
        "`a`: more than 2 members"
    );
}

#[test]
fn lists_and_members_are_counted_before_they_are_collected() {
    let list = format!("{{\"a\":[{}0]}}", "0,".repeat(5));
    let mut object = Object::parse(list.as_bytes()).unwrap();
    let mut visited = 0;
    let error = object.list("a", 3, |_| {
        visited += 1;
        Ok(())
    });
    assert_eq!(error.unwrap_err().to_string(), "`a`: more than 3 items");
    assert_eq!(visited, 3);
    let members = format!("{{{}\"b\":0}}", "\"a\":0,".repeat(MOST_MEMBERS));
    assert_eq!(
        Object::parse(members.as_bytes()).unwrap_err().to_string(),
        "more than 1000 members"
    );
}

#[test]
fn a_member_that_is_looked_at_stays() {
    let mut object = Object::parse(br#"{"a":["x"],"b":1}"#).unwrap();
    assert!(object.peek("a").unwrap().is_some());
    assert_eq!(object.into_rest().len(), 2);
}

#[test]
fn unknown_members_keep_their_bytes() {
    let object =
        Object::parse(br#" {"b":12345678901234567890123.10, "a": {"x" : [1 ,2]}} "#).unwrap();
    let rest: Vec<_> = object
        .into_rest()
        .into_iter()
        .map(|(k, v)| format!("{k}={}", v.get()))
        .collect();
    assert_eq!(
        rest,
        ["b=12345678901234567890123.10", r#"a={"x" : [1 ,2]}"#]
    );
}

#[test]
fn text_behind_the_object_and_other_values_are_refused() {
    for text in ["{} x", "[]", "", "null", "{\"a\":1", "\u{feff}{}"] {
        assert!(Object::parse(text.as_bytes()).is_err(), "{text:?}");
    }
    assert!(Object::first(b"{} x").is_ok());
}

#[test]
fn messages_show_little_of_what_a_stranger_wrote() {
    let text = format!(r#"{{"a":"{}"}}"#, "\\u202ex".repeat(1000));
    let mut object = Object::parse(text.as_bytes()).unwrap();
    let message = object.integer("a").unwrap_err().to_string();
    assert!(
        message.chars().count() < 210 && !message.contains('\u{202e}'),
        "{message}"
    );
}
