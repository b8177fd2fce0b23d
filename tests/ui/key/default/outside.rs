use idem::key;

fn main() {
    let id: Option<u64> = None;
    let _ = key!("order:<id.unwrap_or_default()>");
    let _ = id;
}
