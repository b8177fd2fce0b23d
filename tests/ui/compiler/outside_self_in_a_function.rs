use idem::key;

fn main() {
    let _ = key!("order:<self.id>");
}
