use idem::KeyPart;

#[derive(KeyPart)]
enum Payer {
    Guest { email: String },
}

fn main() {
    let Payer::Guest { email } = Payer::Guest { email: String::new() };
    drop(email);
}
