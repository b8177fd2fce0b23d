use idem::key;

const TENANT: &str = "acme";

fn main() {
    let _ = key!("tenant:<TENANT>");
}
