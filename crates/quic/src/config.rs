//! Builds the parts of a connection from its specification in a scenario.

use std::sync::Arc;

use leobench_base::{RngTree, SimTime};
use leobench_transport::Role;
use leobench_transport::congestion::{
    CarefulResume, CongestionContext, ForecastWindow, Saved, Store,
};
use leobench_transport::endpoint::EndpointError;
use leobench_transport::interfaces::Interfaces;
use leobench_transport::path_scheduler::PathSchedulerContext;
use leobench_transport::plugin::Plugins;

use super::cids::{ACTIVE_LIMIT, first_id};
use super::connection::{Offer, Parts, Settings};
use super::crypto::{Crypto, Earlier, TlsConfig};
use super::flow::QuicConfig;
use super::recovery::Control;
use super::spec::{AfterMigration, MultipathSpec, Protected, QuicSpec};
use super::streams::{StreamConfig, Streams};
use super::zero_rtt::ZeroRtt;
use crate::paths::FourTuple;
use crate::wire::{ConnectionId, TransportParameters};

/// The shortest delay of acknowledgements that we grant, in microseconds (`min_ack_delay`).
const MIN_ACK_DELAY: u64 = 1_000;

/// Frames of unreliable datagrams may fill any packet (RFC 9221 section 3).
pub(super) const LARGEST_DATAGRAM_FRAME: u64 = 65_535;

/// The parts of an end that has not begun.
///
/// # Errors
/// If its scheduler is a plug-in that cannot be built, or if the configuration has the writer of a qlog.
pub(super) fn parts(config: &QuicConfig<'_>) -> Result<Parts, EndpointError> {
    let QuicConfig { spec, role, sends, receives, local, remote, rng, plugins, .. } = *config;
    if config.qlog.is_some() {
        let problem = "the QUIC stack `own` takes its writer by `write_qlog`";
        return Err(EndpointError::Qlog(problem.to_owned()));
    }
    let mut streams = StreamConfig::of_flow(spec, role, sends, receives, rng, plugins);
    if let Some(most) = config.message_streams {
        streams.allow_message_streams(most);
    }
    let mut streams = Streams::new(&streams)?;
    if spec.multipath.is_some() && receives > 0 {
        streams.measure_arrivals();
    }
    let context = CongestionContext { rng: &rng.child("congestion"), paced: spec.pacing, plugins };
    let mut algorithm = spec.congestion.model().build(&context);
    let resumes = spec.after_migration == AfterMigration::CarefulResume;
    let resume = resumes.then(|| spec.careful_resume.unwrap_or_default());
    if let Some(resume) = resume {
        let given = resume.saved_cwnd.zip(resume.saved_rtt);
        let given = given.map(|(cwnd, rtt)| Saved { cwnd, rtt });
        let store = Store::new(given, resume.max_jump, resume.lifetime);
        algorithm = Box::new(CarefulResume::new(algorithm, store));
    }
    let algorithm = ForecastWindow::around(algorithm, spec.on_forecast);
    let control = Control::new(spec.congestion.name(), algorithm);
    let mut settings = settings(spec, !sends.is_empty());
    if config.datagrams {
        settings.params.max_datagram_frame_size = LARGEST_DATAGRAM_FRAME;
    }
    streams.write_params(&mut settings.params);
    let server_params = server_params(config, &settings.params)?;
    // A client makes up the server's first ID; a server learns it from the client's first packet.
    let remote_id = match role {
        Role::Client => first_id(rng, "initial-destination"),
        Role::Server => ConnectionId::default(),
    };
    Ok(Parts {
        role,
        addresses: FourTuple { local, remote },
        interfaces: Interfaces::new(local.ip()),
        crypto: crypto(spec, role, &server_params)?,
        as_bytes: spec.protection == Protected::Tls,
        streams,
        control,
        settings,
        remote_id,
        original_destination: remote_id,
        retry_source: None,
        local_id: first_id(rng, "source-id"),
        offer: offered(spec, role).map(|multipath| Box::new(offer(multipath, rng, plugins))),
        preferred: None,
        rng: rng.clone(),
    })
}

/// The transport parameters of the flow's server, of which those of this end are known. What differs between the ends is how
/// many streams each lets the other open.
fn server_params(
    config: &QuicConfig<'_>,
    ours: &TransportParameters,
) -> Result<TransportParameters, EndpointError> {
    let QuicConfig { spec, role, sends, rng, plugins, .. } = *config;
    let mut params = ours.clone();
    if role == Role::Client {
        let mut server = StreamConfig::of_flow(spec, Role::Server, &[], sends.len(), rng, plugins);
        if let Some(most) = config.message_streams {
            server.allow_message_streams(most);
        }
        Streams::new(&server)?.write_params(&mut params);
    }
    Ok(params)
}

/// The several paths that an end offers: a client always does, a server only with `peer_offers`.
fn offered(spec: &QuicSpec, role: Role) -> Option<&MultipathSpec> {
    spec.multipath.as_ref().filter(|multipath| role == Role::Client || multipath.peer_offers)
}

/// An end's offer of several paths, to which the client's addresses are added later.
pub(super) fn offer(spec: &MultipathSpec, rng: &RngTree, plugins: &Plugins) -> Offer {
    Offer {
        scheduler: {
            let (scheduler, rng, plugins) =
                (spec.scheduler.clone(), rng.child("path-scheduler"), plugins.clone());
            let links = spec.links.clone();
            Arc::new(move || {
                let context = PathSchedulerContext { links: &links, rng: &rng, plugins: &plugins };
                scheduler.model().build(&context)
            })
        },
        scheduler_name: spec.scheduler.name(),
        manager: {
            let manager = spec.manager.clone();
            Arc::new(move || manager.model().build())
        },
        reinject: spec.reinject,
        acks: spec.ack,
        idle: spec.idle_timeout,
        backups: spec.links.iter().map(|link| spec.backup.contains(link)).collect(),
        addresses: Vec::new(),
        peers: Vec::new(),
        pairs: Vec::new(),
        max_path_id: (spec.links.len() * spec.peer_links.len().max(1)) as u32 - 1,
        rng: rng.clone(),
    }
}

/// The source of keys, between ends whose server has these transport parameters, now and in an earlier connection.
fn crypto(
    spec: &QuicSpec,
    role: Role,
    params: &TransportParameters,
) -> Result<Crypto, EndpointError> {
    let early = match (spec.zero_rtt, role) {
        (ZeroRtt::Unused, _) | (ZeroRtt::Rejected, Role::Server) => false,
        (ZeroRtt::Accepted, _) | (ZeroRtt::Rejected, Role::Client) => true,
    };
    let earlier = spec.resumption.then(|| {
        let mut encoded = Vec::new();
        params.write(&mut encoded);
        Box::new(Earlier { early, params: encoded })
    });
    if spec.protection == Protected::Null {
        return Ok(Crypto::Null(earlier));
    }
    TlsConfig::simulated(role, params, earlier.as_deref())
        .map(Crypto::Tls)
        .map_err(|problem| EndpointError::Stack { at: SimTime::ZERO, problem })
}

/// The settings from a specification. An end asks for an acknowledgement frequency only if it `sends` data.
pub(super) fn settings(spec: &QuicSpec, sends: bool) -> Settings {
    let idle_millis = spec.idle_timeout.map_or(0, |timeout| timeout.as_nanos().div_ceil(1_000_000));
    let asked = spec.ack_frequency().filter(|_| sends);
    Settings {
        mtu: spec.payload.get(),
        paces: spec.pacing,
        ecn: spec.ecn,
        initial_rtt: spec.initial_rtt,
        ack_frequency: asked.map(|(threshold, delay)| (threshold.into(), delay)),
        after_migration: spec.after_migration,
        requires_saved: spec.careful_resume.is_some_and(|resume| resume.required),
        probe_after: spec.probe_after.map(leobench_base::spec::Whole::get),
        spin: spec.spin,
        hold: spec.on_forecast.and_then(|heeded| heeded.hold),
        idle_timeout: spec.idle_timeout,
        key_update: spec.key_update.map(|packets| packets.get().into()),
        params: TransportParameters {
            max_idle_timeout: idle_millis,
            max_udp_payload_size: spec.payload.get(),
            active_connection_id_limit: ACTIVE_LIMIT,
            min_ack_delay: Some(MIN_ACK_DELAY),
            ..TransportParameters::default()
        },
    }
}
