//! Checks of videos: what stands beside them.

use std::path::Path;

use leobench_base::spec::SpecError;
use leobench_media::VideoSpec;
use leobench_transport::Plugins;

use super::Place;
use crate::scenario::{ApplicationSpec, FlowSpec, Streams};

/// Checks a flow over which somebody watches a `video`; files lie in `folder`.
pub(super) fn check(
    flow: &FlowSpec,
    video: &VideoSpec,
    folder: &Path,
    plugins: &Plugins,
    at: &Place<'_>,
) -> Result<(), SpecError> {
    if !flow.transport.model().connects() {
        let error = at.key("transport").error("has no connections, which a video needs");
        return Err(error.allowed("a transport with connections, such as `quic`, or no `video`"));
    }
    let instead = "either a `video`, or sources";
    let given = [
        ("source", flow.source.is_some(), instead),
        ("streams", flow.streams != Streams::Dealt(1), instead),
        (
            "application",
            flow.application != ApplicationSpec::Buffered,
            "no `application`: segments are requested, not written",
        ),
        ("stop", flow.stop.is_some(), "no `stop`: a video ends with its last segment"),
        ("reconnect", flow.reconnect.is_some(), "no `reconnect`: a player keeps its connection"),
    ];
    if let Some((key, _, allowed)) = given.into_iter().find(|(_, given, _)| *given) {
        return Err(at.key(key).error("is given together with a `video`").allowed(allowed));
    }
    let at = at.key("video");
    let film = FlowSpec::film(video, folder).map_err(|fault| match at.value {
        Some(value) => fault.at(value, &at.at),
        None => at.at.missing(fault.problem).allowed(fault.allowed),
    })?;
    let adaptation = at.key("adaptation");
    let checked = video.adaptation.model().check(&film, plugins);
    checked.map_err(|fault| adaptation.fault(fault))
}
