//! A page in numbers.

use leobench_base::SimTime;

use crate::network::{ObjectTimes, PageTimes};

summary! {
    /// A page in numbers, all times in seconds from the start of its flow.
    pub struct PageSummary {
        /// How long the page took to load, from the start of its flow to the arrival of its last object; `null` if it never
        /// arrived whole.
        pub completion_s: Option<f64>,
        /// When the first byte of the object that was requested first had arrived, if it had.
        pub first_byte_s: Option<f64>,
        /// Mean time until a byte of the page had arrived: the integral over time of the share of its bytes that are missing (Bocchi
        /// et al. 2016); `null` if the page never arrived whole.
        pub byte_index_s: Option<f64>,
        /// Its objects.
        pub objects: Vec<ObjectSummary>,
    }
}

summary! {
    /// An object of a page in numbers.
    pub struct ObjectSummary {
        /// Name of the object and of its stream.
        pub name: String,
        /// When the page asked for it, if it did.
        pub requested_s: Option<f64>,
        /// When its first byte had arrived, if it had.
        pub first_byte_s: Option<f64>,
        /// When it had arrived, if it had.
        pub delivered_s: Option<f64>,
    }
}

/// Input of the summary for a page.
#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    /// When its flow starts.
    pub(crate) start: SimTime,
    /// Times of its objects and bytes.
    pub(crate) times: &'a PageTimes,
}

impl PageSummary {
    pub(super) fn new(page: PageInput<'_>, names: &[String]) -> Self {
        let seconds = |time: SimTime| time.saturating_since(page.start).as_secs_f64();
        let PageTimes { objects, bytes, waited } = page.times;
        let whole = objects.iter().map(|object| object.delivered).collect::<Option<Vec<_>>>();
        let last = whole.and_then(|times| times.into_iter().max());
        // The first one in the order of the scenario, if several were requested at the same time.
        let first = objects.iter().filter(|object| object.requested.is_some());
        let first = first.min_by_key(|object| object.requested);
        let object = |(name, times): (&String, &ObjectTimes)| ObjectSummary {
            name: name.clone(),
            requested_s: times.requested.map(seconds),
            first_byte_s: times.first_byte.map(seconds),
            delivered_s: times.delivered.map(seconds),
        };
        Self {
            completion_s: last.map(seconds),
            first_byte_s: first.and_then(|object| object.first_byte).map(seconds),
            byte_index_s: last.map(|_| *waited as f64 / 1e9 / *bytes as f64),
            objects: names.iter().zip(objects).map(object).collect(),
        }
    }
}
