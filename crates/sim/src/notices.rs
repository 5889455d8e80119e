//! Notices about parts of a scenario that have no effect in its run, to read beside its numbers.

use leobench_base::{NodeId, RngTree, SimTime};
use leobench_link::{Capacity, QueueSpec};

use crate::routes::Routes;
use crate::scenario::{FlowSpec, Scenario, ScenarioSpec};

/// A notice about a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Name of the flow.
    pub flow: String,
    /// The kind of warning that it is.
    pub kind: NoticeKind,
    /// The words for the user.
    pub text: String,
}

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// A key of the flow has no effect.
    Unused,
    /// The flow never begins.
    Silent,
}

impl NoticeKind {
    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::Silent => "silent",
        }
    }
}

/// The notices about the flows of a scenario that was checked, in their order; at most one of each kind for a flow.
pub fn notices(scenario: &Scenario) -> Vec<Notice> {
    let spec = &scenario.spec;
    let reported = &spec.flows[..scenario.reported_flows()];
    let mut found = Vec::new();
    let mut routes = None;
    for (name, flow) in reported {
        let mut add = |kind, text: Option<String>| {
            found.extend(text.map(|text| Notice { flow: name.clone(), kind, text }));
        };
        add(NoticeKind::Silent, late_viewer(spec, name, flow));
        let unused = if flow.transport.model().requests_marks() {
            without_marks(spec, flow, routes.get_or_insert_with(|| all_routes(spec)))
        } else {
            // A player's flow is never over UDP.
            without_bola(scenario, flow)
        };
        add(NoticeKind::Unused, unused);
    }
    found
}

/// A viewer who begins when the run has ended.
fn late_viewer(spec: &ScenarioSpec, name: &str, flow: &FlowSpec) -> Option<String> {
    let rng = RngTree::new(spec.seed).child("flows").child(name).child("video");
    let begin = SimTime::ZERO + flow.start + flow.video.as_ref()?.wait(&rng);
    let end = SimTime::ZERO + spec.longest();
    (begin >= end).then(|| {
        format!(
            "its viewer begins at {:.1} s, after the end of the run, {:.1} s",
            begin.as_secs_f64(),
            end.as_secs_f64()
        )
    })
}

/// A player whose buffer never becomes as long as BOLA needs it.
fn without_bola(scenario: &Scenario, flow: &FlowSpec) -> Option<String> {
    let video = flow.video.as_ref()?;
    let film = FlowSpec::film(video, &scenario.folder).ok()?;
    let (long, most) = video.unreached_bola(&film)?;
    Some(format!(
        "its player never chooses by BOLA, which takes a buffer of {long} (`long_buffer`): with a `most_buffer` of {} and \
         segments of {}, it chooses with {most} at most",
        video.most_buffer, film.segment
    ))
}

/// The routes of all times of a scenario to the receiving ends of its flows.
fn all_routes(spec: &ScenarioSpec) -> Vec<Routes> {
    let ends = || spec.flows.iter().filter_map(|(_, flow)| node(spec, &flow.to));
    spec.topologies().map(|topology| topology.routes(ends())).collect()
}

/// A flow whose packets can be marked, over queues that mark none.
fn without_marks(spec: &ScenarioSpec, flow: &FlowSpec, routes: &[Routes]) -> Option<String> {
    let ends = node(spec, &flow.from).zip(node(spec, &flow.to))?;
    let mut on_links = routes.iter().filter_map(|routes| routes.path(ends.0, ends.1)).flatten();
    let marked = on_links.any(|direction| {
        let (link, direction) = spec.direction(direction);
        let link = &spec.links[link].1;
        marks(link.queue(direction)) || (link.constellation.is_some() && is_marked_in_orbit(spec))
    });
    (!marked).then(|| {
        "`ecn` has no effect: no queue on its way marks packets, as `codel`, `fq_codel`, `pie`, `red` and `cake` do".into()
    })
}

fn node(spec: &ScenarioSpec, name: &str) -> Option<NodeId> {
    spec.nodes.iter().position(|(node, _)| node == name).map(NodeId::from)
}

/// Whether any of the queues between links' ends through the constellation marks packets.
fn is_marked_in_orbit(spec: &ScenarioSpec) -> bool {
    let Some(constellation) = &spec.constellation else { return false };
    let of_gateways = constellation.gateways.iter().filter_map(|(_, it)| it.backhaul.as_ref());
    let shared = [
        constellation.satellite.as_ref().map(|it| &it.queue),
        constellation.ground.as_ref().map(|it| &it.queue),
        constellation.beam.as_ref().map(|it| &it.queue),
        constellation.isl.as_ref().map(|it| &it.queue),
    ];
    shared.into_iter().flatten().chain(of_gateways.map(|it| &it.queue)).any(marks)
}

fn marks(queue: &QueueSpec) -> bool {
    let built = queue.model().build(Capacity::Unlimited, &RngTree::new(0));
    !built.causes().marks.is_empty()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::load::{Source, Syntax, load};

    const BASE: &str = r#"
        name = "test"
        duration = "30 s"
        [nodes.server]
        [nodes.viewer]
        [links.path]
        between = ["viewer", "server"]
        rate = "10 Mbps"
        [links.aside]
        between = ["viewer", "server"]
        rate = "10 Mbps"
        delay = "1 s"
        queue = "codel"
    "#;

    const FILM: &str = r#"
        [flows.film]
        transport = "quic"
        from = "server"
        to = "viewer"
        [flows.film.video]
        ladder = ["1 Mbps"]
        length = "20 s"
    "#;

    fn found(flows: &str, overrides: &[(&str, &str)]) -> Vec<(String, &'static str, String)> {
        let text = format!("{BASE}{flows}");
        let folder = PathBuf::new();
        let source = Source { file: "t.toml", text: &text, syntax: Syntax::Toml, folder };
        let overrides: Vec<_> =
            overrides.iter().map(|(at, text)| ((*at).to_owned(), (*text).to_owned())).collect();
        let scenario = load(&source, &overrides).unwrap_or_else(|error| panic!("{error}"));
        let found = notices(&scenario).into_iter();
        found.map(|notice| (notice.flow, notice.kind.name(), notice.text)).collect()
    }

    /// A player chooses when a segment of 4 s has room: with 12 s in the buffer, of 16 s in all. Version 4 has 10 s for 12.
    #[test]
    fn bola_needs_a_buffer_that_is_reached() {
        let unused = |version: &str, most: &str| {
            let adaptation = format!("{{ kind = \"dynamic\", version = {version} }}");
            let keys = [
                ("flows.film.video.adaptation", &*adaptation),
                ("flows.film.video.most_buffer", most),
            ];
            found(FILM, &keys)
        };
        for (version, reached, unreached, long) in
            [("5", "16 s", "15.9 s", "12 s"), ("4", "14 s", "13 s", "10 s")]
        {
            assert_eq!(unused(version, reached), []);
            let noticed = unused(version, unreached);
            let [(flow, kind, text)] = &noticed[..] else { panic!("{version}: {noticed:?}") };
            assert_eq!((flow.as_str(), *kind), ("film", "unused"));
            assert!(text.contains(&format!("takes a buffer of {long} ")), "{text}");
        }
        assert_eq!(
            found(FILM, &[("flows.film.video.most_buffer", "8 s")]),
            [],
            "no BOLA is asked for"
        );
    }

    /// Of 20 viewers who begin within a minute, those who begin after 30 s miss the run, unless it waits for them.
    #[test]
    fn viewers_who_begin_after_the_end_are_noticed() {
        let keys = [("flows.film.count", "20"), ("flows.film.video.begins_within", "60 s")];
        let late = found(FILM, &keys);
        assert!((3..=17).contains(&late.len()), "{late:?}"); // 10, and three standard deviations.
        for (flow, kind, text) in &late {
            assert!(flow.starts_with("film-") && *kind == "silent", "{flow}: {kind}");
            let begin = text.split_once("begins at ").unwrap().1.split_once(" s").unwrap().0;
            assert!((30.0..60.0).contains(&begin.parse::<f64>().unwrap()), "{text}");
        }
        let drained = [&keys[..], &[("until", "drained"), ("drain_limit", "60 s")]].concat();
        assert_eq!(found(FILM, &drained), []);
    }

    /// Only the queues on the way count, of its direction.
    #[test]
    fn marks_come_from_queues_that_mark() {
        let flow = r#"
            [flows.call]
            transport = { kind = "udp", ecn = true }
            from = "server"
            to = "viewer"
            call = { length = "10 s", audio = {} }
        "#;
        let unused = |overrides: &[(&str, &str)]| found(flow, overrides).len();
        assert_eq!(unused(&[]), 1, "the link aside, which marks, is not on its way");
        assert_eq!(unused(&[("links.path.queue", "codel")]), 0);
        assert_eq!(unused(&[("links.path.queue", "{ kind = \"codel\", ecn = false }")]), 1);
        assert_eq!(unused(&[("links.path.backward.queue", "cake")]), 0);
        assert_eq!(unused(&[("links.path.forward.queue", "cake")]), 1);
        assert_eq!(unused(&[("flows.call.transport.ecn", "false")]), 0);
    }
}
