use idem::KeyPart;

#[derive(KeyPart)]
#[key(rename = "line")]
struct Line(u64);

fn main() {
    let _ = Line(1);
}
