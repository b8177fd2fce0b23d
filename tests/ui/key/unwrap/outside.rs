use idem::key;

fn main() {
    let order: Option<u64> = None;
    let _ = key!("order:<order.unwrap()>", order: Option<u64>);
}
