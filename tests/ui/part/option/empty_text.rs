use idem::KeyPart;

#[derive(KeyPart)]
enum Status {
    #[key(rename = "")]
    PaidInFull,
}

fn main() {
    let _ = Status::PaidInFull;
}
