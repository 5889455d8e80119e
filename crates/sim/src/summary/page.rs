//! A page in numbers.

use leobench_base::SimTime;

use crate::network::ObjectTimes;

summary! {
    /// A page in numbers, all times in seconds from the start of its flow.
    pub struct PageSummary {
        /// How long the page took to load, from the start of its flow to the arrival of its last object; `null` if it never
        /// arrived whole.
        pub completion_s: Option<f64>,
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
        /// When it had arrived, if it had.
        pub delivered_s: Option<f64>,
    }
}

/// Input of the summary for a page.
#[derive(Clone, Copy, Debug)]
pub struct PageInput<'a> {
    /// When its flow starts.
    pub(crate) start: SimTime,
    /// Request and delivery times of its objects, in the order of their streams.
    pub(crate) objects: &'a [ObjectTimes],
}

impl PageSummary {
    pub(super) fn new(page: PageInput<'_>, names: &[String]) -> Self {
        let seconds = |time: SimTime| time.saturating_since(page.start).as_secs_f64();
        let whole = page.objects.iter().map(|object| object.delivered).collect::<Option<Vec<_>>>();
        let object = |(name, times): (&String, &ObjectTimes)| ObjectSummary {
            name: name.clone(),
            requested_s: times.requested.map(seconds),
            delivered_s: times.delivered.map(seconds),
        };
        Self {
            completion_s: whole.and_then(|times| times.into_iter().max()).map(seconds),
            objects: names.iter().zip(page.objects).map(object).collect(),
        }
    }
}
