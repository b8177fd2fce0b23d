//! Which node of a cluster has which slots.

use std::collections::HashMap;
use std::sync::Arc;

use redis::cluster_routing::Slot;
use redis::{Cmd, Value, cmd};

use super::source::text;

/// The address of each slot's primary, as one node knew it.
pub(super) type Map = HashMap<Slot, Arc<str>>;

/// Asks for a map.
pub(super) fn question() -> Cmd {
    let mut ask = cmd("CLUSTER");
    ask.arg("SLOTS");
    ask
}

/// Reads what `asked` answered: ranges of slots, each with its primary first. Who does not know its own name leaves it out.
pub(super) fn read(said: &Value, asked: &str) -> Map {
    let mut map = Map::new();
    let mut addresses: HashMap<String, Arc<str>> = HashMap::new();
    let Value::Array(ranges) = said else { return map };
    for range in ranges {
        let Value::Array(range) = range else { continue };
        let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = &range[..] else { continue };
        let [host, port, ..] = &primary[..] else { continue };
        let (host, Some(port)) = (text(host).unwrap_or_default(), text(port)) else { continue };
        let address = full(&format!("{host}:{port}"), asked);
        let address = addresses.entry(address).or_insert_with_key(|address| Arc::from(&**address)).clone();
        let slots = (*first..=*last).filter_map(|slot| Slot::new(u16::try_from(slot).ok()?));
        map.extend(slots.map(|slot| (slot, address.clone())));
    }
    map
}

/// An address as `asked` gave it, with the host of that one where it named none.
pub(super) fn full(address: &str, asked: &str) -> String {
    match (address.rsplit_once(':'), asked.rsplit_once(':')) {
        (Some(("" | "?", port)), Some((host, _))) => format!("{host}:{port}"),
        _ => address.to_owned(),
    }
}

/// The slot of what a script is called for: of its first key.
pub(super) fn slot_of(command: &Cmd) -> Option<Slot> {
    let mut arguments = command.args_iter().map(|argument| match argument {
        redis::Arg::Simple(bytes) => bytes,
        _ => &[],
    });
    let name = arguments.next()?;
    // Behind the script and the number of its keys.
    (name.starts_with(b"EVAL")).then(|| arguments.nth(2).map(Slot::for_key)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: Value, port: i64) -> Value {
        Value::Array(vec![host, Value::Int(port), Value::BulkString(b"an id".to_vec())])
    }

    #[test]
    fn a_node_without_a_name_is_where_it_was_asked() {
        let named = |name: &str| Value::BulkString(name.as_bytes().to_vec());
        let range = |first, last, primary| {
            Value::Array(vec![Value::Int(first), Value::Int(last), primary, node(named("replica"), 1)])
        };
        let said = Value::Array(vec![
            range(0, 1, node(Value::Nil, 7001)),
            range(2, 2, node(named(""), 7002)),
            range(3, 3, node(named("?"), 7003)),
            range(4, 16_383, node(named("2001:db8::4"), 7004)),
        ]);
        let map = read(&said, "10.0.0.1:7000");
        assert_eq!(map.len(), 16_384);
        let of = |slot| &*map[&Slot::new(slot).unwrap()];
        assert_eq!(
            [0, 1, 2, 3, 4].map(of),
            ["10.0.0.1:7001", "10.0.0.1:7001", "10.0.0.1:7002", "10.0.0.1:7003", "2001:db8::4:7004"]
        );
    }

    #[test]
    fn what_is_no_map_is_an_empty_one() {
        assert!(read(&Value::Nil, "a:1").is_empty());
        assert!(read(&Value::Array(vec![Value::Int(1), Value::Array(Vec::new())]), "a:1").is_empty());
    }

    #[test]
    fn a_call_of_a_script_belongs_where_its_first_key_is() {
        let mut call = cmd("EVALSHA");
        call.arg("0123").arg(1).arg("idem:{x}abc").arg("{y}");
        assert_eq!(slot_of(&call), Some(Slot::for_key("x")));
        assert_eq!(slot_of(&question()), None);
    }
}
