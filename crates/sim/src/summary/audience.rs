//! All viewers of videos together: what they noticed on average, and how many of them noticed nothing.

use super::{FlowSummary, VideoSummary};

summary! {
    /// All viewers of videos together; means are over viewers.
    pub struct AudienceSummary {
        /// Viewers.
        pub viewers: u64 ["count"],
        /// Viewers who saw a first picture.
        pub started: u64 ["count"],
        /// Viewers among them for whom pictures never stood still afterwards.
        pub undisturbed: u64 ["count"],
        /// Mean time until the first picture, of those who saw one.
        pub startup_s: Option<f64>,
        /// Mean time for which pictures stood still after it, of those who saw one.
        pub stalled_s: f64,
        /// The longest time for which they stood still for anybody.
        pub longest_stall_s: f64,
        /// Mean of their mean bitrates.
        pub bitrate_bps: Option<f64>,
        /// The smallest of these.
        pub least_bitrate_bps: Option<f64>,
        /// Mean of their qualities.
        pub quality_bps: Option<f64>,
    }
}

impl AudienceSummary {
    /// The viewers of these flows, if there are two or more.
    pub(super) fn new(flows: &[FlowSummary]) -> Option<Self> {
        let videos: Vec<_> = flows.iter().filter_map(|flow| flow.video.as_ref()).collect();
        if videos.len() < 2 {
            return None;
        }
        let of = |value: fn(&VideoSummary) -> Option<f64>| {
            mean(&videos.iter().filter_map(|video| value(video)).collect::<Vec<_>>())
        };
        let started = videos.iter().filter(|video| video.startup_s.is_some());
        let undisturbed = started.clone().filter(|video| video.stalls == 0);
        Some(Self {
            viewers: videos.len() as u64,
            started: started.count() as u64,
            undisturbed: undisturbed.count() as u64,
            startup_s: of(|video| video.startup_s),
            stalled_s: of(|video| video.startup_s.map(|_| video.stalled_s)).unwrap_or(0.0),
            longest_stall_s: videos.iter().map(|video| video.longest_stall_s).fold(0.0, f64::max),
            bitrate_bps: of(|video| video.bitrate_bps),
            least_bitrate_bps: videos.iter().filter_map(|video| video.bitrate_bps).reduce(f64::min),
            quality_bps: of(|video| video.quality_bps),
        })
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
