//! Frames about paths that no honest peer sends, each put into a packet on its way (draft-ietf-quic-multipath section 4).

use super::paths::{address, client_over, send, several};
use super::*;
use crate::wire::{Ack, AckRange, ConnectionId, NewConnectionId, PathFrame, ResetToken};

/// The reason with which the receiver closes on this frame, put into a data packet of the sender after both paths are open;
/// `None` if it goes on.
fn answer(spec: &QuicSpec, frame: &Frame) -> Option<String> {
    let mut pipe = client_over(spec, &[(20, 10_000_000), (30, 10_000_000)], 2);
    let mut forged = Some(frame.clone());
    pipe.translate = Box::new(move |end, now, packet| {
        let is_due = end == SENDER && now > ms(1_000) && packet.meta.source.ip() == address(0);
        if let Some(packets) = packets_mut(&mut packet.body)
            && is_due
            && let Some(frame) = forged.take()
        {
            packets[0].frames.insert(0, frame);
        }
        true
    });
    send(&mut pipe, 4_000_000);
    pipe.run(ms(20_000), |pipe| pipe.ends[RECEIVER].lost().is_some());
    let lost = pipe.ends[RECEIVER].lost().map(|loss| loss.reason.clone());
    assert!(lost.is_some() || pipe.delivered[0] == 4_000_000);
    lost
}

fn two() -> QuicSpec {
    several(2, |_| ())
}

#[test]
fn frames_that_break_the_rules_close_the_connection() {
    let path = |frame| Frame::Path(frame);
    let ack = |number| Ack {
        ranges: smallvec::smallvec![AckRange { smallest: number, largest: number }],
        delay: 0,
        ecn: None,
    };
    let new = NewConnectionId {
        sequence: 0,
        retire_prior_to: 0,
        id: ConnectionId::new(&[9; 8]).unwrap(),
        token: ResetToken([0; 16]),
    };
    let id = |path| PathFrame::NewConnectionId { path, new: Box::new(new) };
    let violation = "PROTOCOL_VIOLATION";
    for (frame, code, reason) in [
        (path(PathFrame::Abandon { path: 9, code: 0 }), violation, "a path ID beyond the limit"),
        (path(PathFrame::PathsBlocked(9)), violation, "a path ID beyond the limit"),
        (path(id(9)), violation, "a path ID beyond the limit"),
        (path(id(1)), violation, "two connection IDs of one sequence number"),
        (path(PathFrame::MaxPathId(0)), violation, "MAX_PATH_ID below the transport parameter"),
        (
            path(PathFrame::CidsBlocked { path: 1, next: 99 }),
            violation,
            "PATH_CIDS_BLOCKED beyond the IDs that were issued",
        ),
        (
            path(PathFrame::RetireConnectionId { path: 1, sequence: 77 }),
            violation,
            "a connection ID that was never issued is retired",
        ),
        (
            Frame::PathAck { path: 1, ack: ack(1_000_000) },
            violation,
            "ACK of a packet that was not sent",
        ),
        (Frame::PathAck { path: 9, ack: ack(0) }, violation, "a path ID beyond the limit"),
    ] {
        let told = answer(&two(), &frame).unwrap_or_default();
        assert!(told.contains(code) && told.contains(reason), "{frame:?}: {told}");
    }
}

#[test]
fn frames_that_change_nothing_are_ignored() {
    for frame in [
        PathFrame::PathsBlocked(1),
        PathFrame::CidsBlocked { path: 1, next: 2 },
        PathFrame::MaxPathId(1),
        PathFrame::Status { path: 1, sequence: 7, backup: false },
    ] {
        assert_eq!(answer(&two(), &Frame::Path(frame.clone())), None, "{frame:?}");
    }
}

#[test]
fn frames_about_paths_need_an_agreement() {
    for frame in [PathFrame::MaxPathId(3), PathFrame::Abandon { path: 0, code: 0 }] {
        let told = answer(&spec(|_| ()), &Frame::Path(frame.clone())).unwrap_or_default();
        let reason = "PROTOCOL_VIOLATION: a frame of multipath, which was not agreed on";
        assert!(told.contains(reason), "{frame:?}: {told}");
    }
}

/// Section 3.4: whoever is told to abandon the last path closes the connection.
#[test]
fn the_last_path_cannot_be_abandoned() {
    let backup = several(2, |_| ());
    let mut pipe = client_over(&backup, &[(20, 10_000_000), (30, 10_000_000)], 1);
    let mut forged = false;
    pipe.translate = Box::new(move |end, now, packet| {
        if let Some(packets) = packets_mut(&mut packet.body)
            && end == SENDER
            && now > ms(1_000)
            && !std::mem::replace(&mut forged, true)
        {
            packets[0].frames.insert(0, Frame::Path(PathFrame::Abandon { path: 0, code: 0 }));
        }
        true
    });
    send(&mut pipe, 4_000_000);
    pipe.run(ms(20_000), |pipe| pipe.ends[RECEIVER].lost().is_some());
    let lost = pipe.ends[RECEIVER].lost().unwrap().reason.clone();
    assert!(lost.contains("NO_VIABLE_PATH: the client abandoned the last path"), "{lost}");
}
