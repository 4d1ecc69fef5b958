//! JSON in which members may repeat, and mutations that give it two readings.

use serde_json::Value;

use crate::support::dice::Dice;

/// A JSON value with its members in order.
#[derive(Clone, Debug)]
pub enum Tree {
    Leaf(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// Texts of a document that lead to the right bytes, and those that lead to others.
pub type Swaps = Vec<(String, String)>;

impl From<&Value> for Tree {
    fn from(value: &Value) -> Self {
        match value {
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                let members = members.iter();
                Self::Object(members.map(|(k, v)| (k.clone(), v.into())).collect())
            }
            leaf => Self::Leaf(leaf.to_string()),
        }
    }
}

impl Tree {
    pub fn parse(text: &str) -> Self {
        Self::from(&serde_json::from_str::<Value>(text).unwrap())
    }

    pub fn print(&self) -> String {
        match self {
            Self::Leaf(text) => text.clone(),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::print).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| {
                    format!("{}:{}", Value::from(name.as_str()), value.print())
                };
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(","))
            }
        }
    }

    /// Every object, outermost first.
    fn objects(&mut self) -> usize {
        match self {
            Self::Leaf(_) => 0,
            Self::List(items) => items.iter_mut().map(Self::objects).sum(),
            Self::Object(members) => {
                let values = members.iter_mut();
                1 + values.map(|(_, value)| value.objects()).sum::<usize>()
            }
        }
    }

    fn object(&mut self, wanted: &mut usize) -> Option<&mut Vec<(String, Self)>> {
        match self {
            Self::Leaf(_) => None,
            Self::List(items) => items.iter_mut().find_map(|item| item.object(wanted)),
            Self::Object(members) => {
                if *wanted == 0 {
                    return Some(members);
                }
                *wanted -= 1;
                let mut values = members.iter_mut();
                values.find_map(|(_, value)| value.object(wanted))
            }
        }
    }

    /// Alters one object somewhere.
    pub fn mutate(&mut self, dice: &mut Dice, swaps: &Swaps) {
        let mut wanted = dice.roll(self.objects().max(1));
        let Some(members) = self.object(&mut wanted) else {
            return;
        };
        let at = dice.roll(members.len().max(1));
        let Some((name, value)) = members.get(at).cloned() else {
            return;
        };
        let place = dice.roll(members.len() + 1);
        match dice.roll(13) {
            10..13 => {
                let whole = swapped(&Self::Object(members.clone()), swaps);
                if let Self::Object(again) = whole {
                    let again = again.into_iter();
                    members.extend(again.map(|(name, value)| (cased(&name, dice), value)));
                }
            }
            0..4 => members.insert(place, (cased(&name, dice), tampered(&value, dice, swaps))),
            4..6 => members[at].0 = cased(&name, dice),
            6 => members[at].1 = tampered(&value, dice, swaps),
            7 => split(members, at, dice),
            8 => {
                let known = "urls data platform subject annotations os.version";
                let known: Vec<&str> = known.split(' ').collect();
                let name = dice.pick(&known).to_owned();
                members.insert(place, (name, Tree::Leaf("null".to_owned())));
            }
            _ => {
                for number in ["1", "2"] {
                    members.insert(place, ("unknown".to_owned(), Tree::Leaf(number.to_owned())));
                }
            }
        }
    }
}

/// One member becomes two, each with a part of what it held.
fn split(members: &mut Vec<(String, Tree)>, at: usize, dice: &mut Dice) {
    let (name, value) = members[at].clone();
    let halves = match value {
        Tree::Object(mut first) => {
            let second = first.split_off(dice.roll(first.len() + 1));
            [Tree::Object(first), Tree::Object(second)]
        }
        Tree::List(mut first) => {
            let second = first.split_off(dice.roll(first.len() + 1));
            [Tree::List(first), Tree::List(second)]
        }
        leaf => [leaf.clone(), leaf],
    };
    let [first, second] = halves;
    members[at].1 = first;
    members.push((cased(&name, dice), second));
}

/// A name, perhaps in another letter case.
fn cased(name: &str, dice: &mut Dice) -> String {
    match dice.roll(4) {
        0 => name.to_uppercase(),
        1 => name.replacen('s', "\u{17f}", 1),
        2 => {
            let mut letters = name.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect()
        }
        _ => name.to_owned(),
    }
}

/// A value, or something in its place.
fn tampered(value: &Tree, dice: &mut Dice, swaps: &Swaps) -> Tree {
    match (dice.roll(6), value) {
        (0, _) => Tree::Leaf("null".to_owned()),
        (1, Tree::List(_)) => Tree::List(Vec::new()),
        (1, Tree::Object(_)) => Tree::Object(Vec::new()),
        (2, Tree::Object(members)) => {
            let mut members = members.clone();
            if !members.is_empty() {
                members.remove(dice.roll(members.len()));
            }
            Tree::Object(members)
        }
        (2, Tree::List(items)) => Tree::List(items.iter().rev().cloned().collect()),
        (3, Tree::List(items)) => {
            let mut items = items.clone();
            items.insert(0, Tree::Object(Vec::new()));
            Tree::List(items)
        }
        (4, _) => value.clone(),
        _ => swapped(value, swaps),
    }
}

/// A value that leads to other bytes.
fn swapped(value: &Tree, swaps: &Swaps) -> Tree {
    let mut text = value.print();
    for (from, to) in swaps {
        text = text.replace(from, to);
    }
    serde_json::from_str::<Value>(&text).map_or_else(|_| value.clone(), |value| (&value).into())
}
