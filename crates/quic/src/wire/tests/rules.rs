//! Rules that depend on the types of frames only, and errors in words.

use super::*;

#[test]
fn frames_are_classified() {
    let ack = Frame::Ack(Ack {
        ranges: smallvec::smallvec![AckRange { smallest: 0, largest: 0 }],
        delay: 0,
        ecn: None,
    });
    let Frame::Ack(fields) = &ack else { unreachable!("it was made so") };
    let path_ack = Frame::PathAck { path: 1, ack: fields.clone() };
    let close = Close { code: 0, frame_type: None, reason: Bytes::new() };
    let close = Frame::ConnectionClose(Box::new(close));
    let new_id = NewConnectionId {
        sequence: 0,
        retire_prior_to: 0,
        id: ConnectionId::default(),
        token: ResetToken([0; 16]),
    };
    let new_id = Frame::NewConnectionId(Box::new(new_id));
    // Columns: ack-eliciting, in flight (both RFC 9002 section 2), probing (RFC 9000 table 3, "P").
    for (frame, expected) in [
        (Frame::Padding(1), [false, true, true]),
        (ack, [false, false, false]),
        (path_ack, [false, false, false]),
        (close, [false, false, false]),
        (Frame::Ping, [true, true, false]),
        (Frame::PathChallenge(0), [true, true, true]),
        (Frame::PathResponse(0), [true, true, true]),
        (new_id, [true, true, true]),
        (Frame::MaxData(0), [true, true, false]),
        (Frame::ImmediateAck, [true, true, false]),
        (Frame::Path(PathFrame::MaxPathId(1)), [true, true, false]),
    ] {
        let is = [frame.is_ack_eliciting(), frame.is_in_flight(), frame.is_probing()];
        assert_eq!(is, expected, "{frame:?}");
    }
}

#[test]
fn errors_have_names_and_become_frames() {
    let error = TransportError::new(ErrorCode::FINAL_SIZE_ERROR, "it moved").in_frame(0x04);
    assert_eq!(error.to_string(), "FINAL_SIZE_ERROR: it moved");
    let close = Close { code: 6, frame_type: Some(4), reason: Bytes::from_static(b"it moved") };
    assert_eq!(error.close(), close);
    let alert = TransportError::new(ErrorCode::crypto(120), "nothing in common");
    assert_eq!(alert.to_string(), "CRYPTO_ERROR (TLS alert 120): nothing in common");
    assert_eq!((alert.close().code, alert.close().frame_type), (0x178, Some(0)));
    assert_eq!(ErrorCode(0x77).to_string(), "error 0x77");
}
