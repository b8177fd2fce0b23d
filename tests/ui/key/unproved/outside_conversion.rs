use idem::key;

fn main() {
    let id = String::from("A");
    let _ = key!("order:<id.to_lowercase()>", id: String);
}
