use idem::key;

fn main() {
    let amount = 0.1;
    let _ = key!("amount:<amount>");
}
