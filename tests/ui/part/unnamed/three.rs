use idem::KeyPart;

#[derive(KeyPart)]
struct LineId(u64, u32, String);

fn main() {
    let _ = LineId(1, 2, String::new());
}
