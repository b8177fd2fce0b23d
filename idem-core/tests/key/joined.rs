//! Parts of several parts: their text, and that no two of them share one.

use std::collections::HashMap;

use idem_core::KeyWriter;

use super::*;

/// Any tree of parts: the number of parts of each kind of node is fixed by the type, as it is for structs.
enum Tree {
    Leaf(&'static str),
    Pair(Box<[Tree; 2]>),
}

impl KeyPart for Tree {
    fn write(&self, out: &mut KeyWriter<'_>) {
        match self {
            Self::Leaf(text) => out.text(text),
            Self::Pair(pair) => out.parts(&[&pair[0], &pair[1]]),
        }
    }
}

fn pair(a: Tree, b: Tree) -> Tree {
    Tree::Pair(Box::new([a, b]))
}

use Tree::Leaf;

#[test]
fn parts_are_joined_by_a_slash_that_none_but_the_last_can_hold() {
    assert_eq!(text_of(&pair(Leaf("DE"), Leaf("42"))), "DE/42");
    assert_eq!(text_of(&pair(Leaf("a/b"), Leaf("c/d"))), "a~1b/c/d");
    assert_eq!(text_of(&pair(Leaf("a~b"), Leaf("c~d"))), "a~0b/c~d");
    assert_eq!(text_of(&pair(Leaf("/~"), Leaf("x"))), "~1~0/x");
}

#[test]
fn parts_of_parts_are_escaped_once_for_each_level() {
    assert_eq!(text_of(&pair(pair(Leaf("a"), Leaf("b")), Leaf("c"))), "a~1b/c");
    assert_eq!(text_of(&pair(Leaf("a"), pair(Leaf("b"), Leaf("c")))), "a/b/c");
    assert_eq!(text_of(&pair(pair(Leaf("a/b"), Leaf("c")), Leaf("d"))), "a~01b~1c/d");
    assert_eq!(text_of(&pair(pair(Leaf("a~b"), Leaf("c")), Leaf("d"))), "a~00b~1c/d");
}

#[test]
fn the_text_of_parts_is_encoded_as_any_other() {
    let mut key = KeyText::new();
    key.literal("k:");
    key.part("a", &pair(Leaf("x y/"), Leaf("z")), Some(b'/'));
    key.literal("/");
    key.part("b", &pair(Leaf("~"), Leaf("é")), None);
    assert_eq!(key.finish().unwrap(), "k:x%20y~1%2Fz/~0/%C3%A9");
}

struct Sku(Option<u32>, u8);
impl KeyPart for Sku {
    fn write(&self, out: &mut KeyWriter<'_>) {
        out.parts(&[&self.0, &self.1]);
    }
}

#[test]
fn one_missing_part_is_the_whole() {
    for (a, b) in [("", "b"), ("a", ""), ("", "")] {
        let key = key_of(&pair(Leaf(a), Leaf(b)));
        assert_eq!(key.unwrap_err().kind(), ErrorKind::MissingKeyPart, "{a:?}, {b:?}");
    }
    assert!(key_of(&pair(Leaf("a"), pair(Leaf("b"), Leaf("")))).is_err());
    assert_eq!(text_of(&Sku(Some(7), 0)), "7/0");
    assert!(key_of(&Sku(None, 0)).is_err());
}

/// All triples of hard texts, as one nested type and as another, in front of a part that begins with each sign.
#[test]
fn no_two_different_parts_make_one_text() {
    let hard = ["a", "/", "~", "~1", "~0", "/~", "a/b", "0", "1", "%", ":"];
    for left in [true, false] {
        for end in [b'/', b'~', b':'] {
            let mut seen = HashMap::new();
            for a in hard {
                for b in hard {
                    for c in hard {
                        let tree = if left {
                            pair(pair(Leaf(a), Leaf(b)), Leaf(c))
                        } else {
                            pair(Leaf(a), pair(Leaf(b), Leaf(c)))
                        };
                        let mut key = KeyText::new();
                        key.literal("k:");
                        key.part("a", &tree, Some(end));
                        key.literal(std::str::from_utf8(&[end]).unwrap());
                        key.part("b", c, None);
                        let text = key.finish().unwrap().to_owned();
                        if let Some(other) = seen.insert(text.clone(), (a, b, c)) {
                            panic!("{text} is {other:?} and {:?}", (a, b, c));
                        }
                    }
                }
            }
        }
    }
}
