use idem::KeyPart;

#[derive(KeyPart)]
struct LineId(u64, Option<u32>);

fn main() {
    let _ = LineId(1, Some(2));
}
