use idem::KeyPart;

#[derive(KeyPart)]
enum Payer {
    Guest,
    Customer(u64),
}

fn main() {
    let payer = Payer::Customer(1);
    let _ = idem::key!("bill:<payer>"); // still a part: exactly one error above
    let _ = Payer::Guest;
}
