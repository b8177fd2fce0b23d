use idem::KeyPart;

#[derive(KeyPart)]
#[key(rename_all = "kebab-case")]
enum Payer {
    Guest,
    #[key(rename = "guest")]
    Customer(u64),
}

fn main() {
    let payer = Payer::Customer(1);
    let _ = idem::key!("bill:<payer>");
    let _ = Payer::Guest;
}
