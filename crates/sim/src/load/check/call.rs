//! Checks of calls: what carries them, and what stands beside them.

use leobench_base::Bytes;
use leobench_base::spec::SpecError;
use leobench_media::CallSpec;

use super::Place;
use super::flows::stack_or_transport;
use crate::scenario::{ApplicationSpec, FlowSpec, Streams};

/// The least datagram of a transport that carries a call: messages of the receiving end are cut to it.
const LEAST: Bytes = Bytes::new(100);

/// Checks a flow that carries a `call`.
pub(super) fn check(flow: &FlowSpec, call: &CallSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let Some(most) = flow.transport.model().datagram() else {
        let problem =
            format!("{} does not send datagrams, which a call needs", stack_or_transport(flow));
        let error = at.key("transport").error(problem);
        return Err(error.allowed("`udp`, or `quic` with the stack `own`, or no `call`"));
    };
    let at_call = at.key("call");
    if call.is_in_streams() && !flow.transport.model().has_message_streams() {
        let problem = format!("{} has no stream for each packet", stack_or_transport(flow));
        let error = at_call.key("carried").error(problem);
        return Err(error.allowed("`datagrams`, or the transport `quic` with the stack `own`"));
    }
    for (part, key, needed) in call.packets() {
        if needed > most {
            let problem = format!("makes packets of {needed}, RTP headers included");
            let error = at_call.key(part).key(key).error(problem);
            return Err(
                error.allowed(format!("packets of at most {most}, a datagram of the transport"))
            );
        }
    }
    if most < LEAST {
        let key = flow.transport.model().payload_key();
        let error = at.key("transport").key(key).error("leaves too little room for a call");
        return Err(error.allowed(format!("datagrams of {LEAST} or more")));
    }
    let instead = "either a `call`, or sources";
    let given = [
        ("video", flow.video.is_some(), "either a `call`, or a `video`"),
        ("source", flow.source.is_some(), instead),
        ("streams", flow.streams != Streams::Dealt(1), instead),
        (
            "application",
            flow.application != ApplicationSpec::Buffered,
            "no `application`: packets of a call never block",
        ),
        ("stop", flow.stop.is_some(), "no `stop`: a call has a `length`"),
        ("reconnect", flow.reconnect.is_some(), "no `reconnect`: a call has no such connection"),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        None => Ok(()),
        Some((key, _, allowed)) => {
            Err(at.key(key).error("is given together with a `call`").allowed(allowed))
        }
    }
}
