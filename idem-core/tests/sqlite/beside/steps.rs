//! What is done, and by whom.

use std::fmt;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A file, and what happens to it.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) setting: Setting,
    pub(super) steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) stores: usize,
    pub(super) keys: u16,
    /// The keys that a store puts into the index together. Without a number none does by itself, and a failure is the same each time.
    pub(super) tail: Option<usize>,
    /// Whether the first store may not let the file grow.
    pub(super) is_bounded: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) store: usize,
    /// Whether the answer is awaited as by a task, and so comes from the writer's thread.
    pub(super) polled: bool,
    pub(super) action: Action,
}

#[derive(Clone, Debug)]
pub(super) enum Action {
    Ask(u16, Ask),
    Claims(Many),
    Ends(Many),
    /// Claims that the file takes back, all of them, if one is of this key and makes a row.
    Refused(Many, u16),
    Sweep(usize),
    Pass(Duration),
    SetBack(Duration),
    /// So many steps of putting keys into the index; all are 32.
    Index(usize),
    /// Grants until the store expects that the next claim finds no record, and does not look before.
    ExpectNew,
    Reopen,
    Delete(Which),
    /// Another program copies the file.
    Copy,
    /// It puts the copy back into it.
    Restore,
}

/// Many at once.
#[derive(Clone, Debug)]
pub(super) enum Many {
    Each(Vec<(u16, Ask)>),
    /// The same of each key from one on.
    Run(u16, u16, Ask),
}

impl Many {
    pub(super) fn each(&self) -> Vec<(u16, &Ask)> {
        match self {
            Self::Each(each) => each.iter().map(|(key, ask)| (*key, ask)).collect(),
            Self::Run(from, count, ask) => (*from..from + count).map(|key| (key, ask)).collect(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Ask {
    Claim { by: By, payload: u8, lease: Duration, keep: Duration, parks: bool, max_tries: u32, durable: bool },
    Renew { by: By, lease: Duration },
    Complete(Ending),
    Fail(Ending),
    Release(By),
    Forget { force: bool },
    Inspect,
}

impl Ask {
    /// A claim that is granted each time: its record ends as it begins.
    pub(super) const FLEETING: Self = Self::Claim {
        by: By::Holder,
        payload: 0,
        lease: Duration::ZERO,
        keep: Duration::ZERO,
        parks: false,
        max_tries: 1,
        durable: false,
    };
}

#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) by: By,
    pub(super) payload: u8,
    pub(super) len: u16,
    pub(super) ttl: Duration,
    pub(super) keep: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum By {
    /// The attempt that wrote the record last.
    Holder,
    Attempt(u8),
}

/// What another program deletes.
#[derive(Clone, Debug)]
pub(super) enum Which {
    Dead,
    /// The dead among so many numbers at the end.
    LastDead(u16),
    One(u16),
    All,
}

impl fmt::Debug for Run {
    /// One line for a step.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.setting)?;
        self.steps.iter().enumerate().try_for_each(|(at, step)| write!(f, "\n    {}. {step:?}", at + 1))
    }
}

/// Mostly few keys, so that much happens to each; now and then so many that the index and the table have several pages.
pub(super) fn runs() -> impl Strategy<Value = Run> {
    let keys = prop_oneof![7 => 5..=30_u16, 1 => 200..=600_u16];
    let tail = prop_oneof![Just(None), (1..=6_usize).prop_map(Some)];
    let setting = (1..=3_usize, keys, tail, prop::bool::weighted(0.25))
        .prop_map(|(stores, keys, tail, is_bounded)| Setting { stores, keys, tail, is_bounded });
    setting.prop_flat_map(|setting| {
        let steps = prop_oneof![
            20 => step(setting).prop_map(|step| vec![step]),
            1 => unseen(setting),
            1 => taken_back(setting),
        ];
        vec(steps, 1..60).prop_map(move |steps| Run { setting, steps: steps.concat() })
    })
}

/// A store claims without a look, while it does not know the rows that another one has made and maybe put into the index, and of which one is
/// gone: the last, or one before others.
fn unseen(Setting { stores, keys, .. }: Setting) -> impl Strategy<Value = Vec<Step>> {
    let made = (0..keys, 1..=3_u16, claim());
    (0..stores, made, select(vec![0, 32]), 0..3_u16, 0..keys, claim()).prop_map(
        move |(store, (from, count, claim), indexed, gone, key, own)| {
            let other = (store + 1) % stores;
            let step = |store, action| Step { store, polled: false, action };
            vec![
                step(store, Action::ExpectNew),
                step(other, Action::Claims(Many::Run(from, count, claim))),
                step(other, Action::Index(indexed)),
                step(store, Action::Delete(Which::One((from + gone % count) % keys))),
                step(store, Action::Ask(key, own)),
            ]
        },
    )
}

/// A store makes rows where it has made as many that were taken back, and puts their keys into the index.
fn taken_back(Setting { stores, keys, .. }: Setting) -> impl Strategy<Value = Vec<Step>> {
    (0..stores, 0..keys, 0..keys, 1..=3_u16, claim()).prop_map(move |(store, from, other, count, claim)| {
        let step = |action| Step { store, polled: false, action };
        let refused = (from + count) % keys;
        vec![
            step(Action::Refused(Many::Run(from, count + 1, claim.clone()), refused)),
            step(Action::Claims(Many::Run(other, count, claim))),
            step(Action::Index(32)),
        ]
    })
}

fn step(setting: Setting) -> impl Strategy<Value = Step> {
    let Setting { stores, keys, .. } = setting;
    let action = prop_oneof![
        20 => (0..keys, ask()).prop_map(|(key, ask)| Action::Ask(key, ask)),
        4 => many(keys, claim()).prop_map(Action::Claims),
        3 => many(keys, end()).prop_map(Action::Ends),
        3 => refused(keys),
        2 => select(vec![1_000, 3, 2, 1, 0]).prop_map(Action::Sweep),
        4 => spans().prop_map(Action::Pass),
        1 => spans().prop_map(Action::SetBack),
        4 => prop_oneof![2 => Just(32), 1 => 1..32_usize].prop_map(Action::Index),
        1 => Just(Action::ExpectNew),
        1 => Just(Action::Reopen),
        2 => which(keys).prop_map(Action::Delete),
        1 => Just(Action::Copy),
        1 => Just(Action::Restore),
    ];
    (0..stores, prop::bool::weighted(0.3), action).prop_map(|(store, polled, action)| Step {
        store,
        polled,
        action,
    })
}

/// A few of any keys in any order, or neighbours, up to all of them.
fn many(keys: u16, of: impl Strategy<Value = Ask> + Clone) -> impl Strategy<Value = Many> {
    prop_oneof![
        vec((0..keys, of.clone()), 0..5).prop_map(Many::Each),
        (0..keys, 1..=keys, of).prop_map(|(from, count, ask)| Many::Run(from, count, ask)),
    ]
}

/// Neighbours, and one among them or a little behind.
fn refused(keys: u16) -> impl Strategy<Value = Action> {
    (0..keys, 1..=keys, 0..=keys, claim()).prop_map(move |(from, count, at, claim)| {
        Action::Refused(Many::Run(from, count, claim), (from + at.min(count)) % keys)
    })
}

fn ask() -> impl Strategy<Value = Ask> {
    prop_oneof![
        2 => Just(Ask::Inspect),
        8 => claim(),
        5 => end(),
        2 => (by(), spans()).prop_map(|(by, lease)| Ask::Renew { by, lease }),
        3 => any::<bool>().prop_map(|force| Ask::Forget { force }),
    ]
}

fn claim() -> impl Strategy<Value = Ask> + Clone {
    let tries = select(vec![u32::MAX, 5, 2, 1]);
    let flags = (prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    (by(), payload(), spans(), spans(), tries, flags).prop_map(
        |(by, payload, lease, keep, max_tries, (parks, durable))| Ask::Claim {
            by,
            payload,
            lease,
            keep,
            parks,
            max_tries,
            durable,
        },
    )
}

fn end() -> impl Strategy<Value = Ask> + Clone {
    prop_oneof![
        3 => ending().prop_map(Ask::Complete),
        1 => ending().prop_map(Ask::Fail),
        1 => by().prop_map(Ask::Release),
    ]
}

fn ending() -> impl Strategy<Value = Ending> + Clone {
    (by(), payload(), select(vec![0, 5, 300, 3_000_u16]), spans(), spans())
        .prop_map(|(by, payload, len, ttl, keep)| Ending { by, payload, len, ttl, keep })
}

fn by() -> impl Strategy<Value = By> + Clone {
    prop_oneof![Just(By::Holder), (0..4_u8).prop_map(By::Attempt)]
}

fn payload() -> impl Strategy<Value = u8> + Clone {
    prop_oneof![8 => Just(0), 1 => 1..3_u8]
}

/// Few lengths, so that ends meet.
fn spans() -> impl Strategy<Value = Duration> + Clone {
    select([60_000_000, 10_000_000, 1_000_000, 20, 1, 0].map(Duration::from_micros).to_vec())
}

fn which(keys: u16) -> impl Strategy<Value = Which> {
    prop_oneof![
        3 => Just(Which::Dead),
        3 => (1..=5_u16).prop_map(Which::LastDead),
        2 => (0..keys).prop_map(Which::One),
        1 => Just(Which::All),
    ]
}
