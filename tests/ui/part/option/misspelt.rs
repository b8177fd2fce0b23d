use idem::KeyPart;

#[derive(KeyPart)]
enum Status {
    #[key(renam = "paid")]
    PaidInFull,
}

fn main() {
    let _ = Status::PaidInFull;
}
