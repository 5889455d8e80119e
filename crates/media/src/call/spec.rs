//! The specification of a call.

use leobench_base::spec::{Fault, Whole};
use leobench_base::{BitRate, Bytes, SimDuration};
use leobench_transport::buffer::{Attributes, Carried, OnDeadline};

use super::jitter_buffer::JitterBufferSpec;
use super::packet::{MOST_PACKETS, RTP_HEADER};
use crate::rate_control::{Bounds, RateControlSpec};

/// Longest call: a working day, of which every frame is kept in memory.
const LONGEST: SimDuration = SimDuration::from_secs(8 * 3600);

/// Longest time that frames wait for packets, or packets for the network.
const LONGEST_WAIT: SimDuration = SimDuration::from_secs(60);

/// Packets of a call that may travel at a time in streams of their own. Receivers must let senders open a stream for each new packet at
/// any time (draft-ietf-avtcore-rtp-over-quic, on `MAX_STREAMS`): this is half a second of the smallest packets at
/// the highest bitrate.
pub const MOST_STREAMS: u64 = 1 << 16;

leobench_base::spec! {
    /// A call, one way: the sending end has a camera, a microphone, or both. A call that goes both ways is two flows.
    ///
    /// The target of the rate control is shared: the voice takes its constant bitrate, the picture the rest. RTP packets carry
    /// 20 bytes of headers: 12 of RTP, 8 of the extension that numbers them.
    pub struct CallSpec example = r#"{"length": "60 s", "video": {}, "audio": {}}"# check = CallSpec::check {
        /// How long the call is. A run that ends before cuts it short.
        pub length: SimDuration,
        /// The picture; unless given, there is none.
        pub video: Option<CameraSpec>,
        /// The voice; unless given, there is none.
        pub audio: Option<VoiceSpec>,
        /// How the rate is set.
        pub rate_control: RateControlSpec = RateControlSpec::default(),
        /// How long frames and voice packets wait at the receiving end, counted from the fastest way there.
        pub jitter_buffer: JitterBufferSpec = JitterBufferSpec::default(),
        /// How packets travel, and feedback: in datagrams, or each in a stream of its own over `quic`, as RTP over QUIC allows
        /// (draft-ietf-avtcore-rtp-over-quic). Streams repeat what is lost, for `video.retransmission` at most; nobody asks for it.
        pub carried: CallCarried = CallCarried::Datagrams,
    }
}

leobench_base::words! {
    /// How the packets of a call travel. One stream for all would hold packets back behind lost ones.
    pub enum CallCarried {
        /// Each in a datagram.
        Datagrams = "datagrams",
        /// Each in a QUIC stream of its own.
        StreamPerMessage = "stream_per_message",
    }
}

impl From<CallCarried> for Carried {
    fn from(carried: CallCarried) -> Self {
        match carried {
            CallCarried::Datagrams => Self::Datagrams,
            CallCarried::StreamPerMessage => Self::StreamPerMessage,
        }
    }
}

leobench_base::spec! {
    /// The picture of a call. Every frame but a key frame needs the frame before it.
    pub struct CameraSpec: Default check = CameraSpec::check {
        /// Frames a second.
        pub frame_rate: Whole<1, 240> = Whole::nearest(30),
        /// Lowest bitrate.
        pub least: BitRate = BitRate::from_bps(100_000),
        /// Bitrate at the start (libwebrtc starts with 300 kbit/s).
        pub start: BitRate = BitRate::from_bps(300_000),
        /// Highest bitrate.
        pub most: BitRate = BitRate::from_bps(2_500_000),
        /// Time between key frames; unless given, only the first frame and those that the receiving end asks for are key frames.
        pub key_every: Option<SimDuration>,
        /// Size of a key frame, in other frames. Those after it are smaller, by a quarter at most, until the mean is the target again
        /// (libvpx).
        pub key_size: f64 = 4.0,
        /// Standard deviation of the logarithm of a frame's size; 0 for a constant size.
        pub variation: f64 = 0.0,
        /// Bytes of a frame in a packet at most.
        pub packet: Bytes = Bytes::new(1_200),
        /// Parity packets over packets of a frame, rounded up in every frame; 0 for none. Each restores one lost packet of those
        /// whose sum (XOR) it is.
        pub fec: f64 = 0.0,
        /// How long a packet is asked for again after its loss was noticed; `0 s` for never. In streams, how long after it left the
        /// encoder's queue a packet is sent and repeated.
        pub retransmission: SimDuration = SimDuration::from_millis(500),
        /// A frame that is incomplete this long after it was due, and after its first packet came, is given up: the picture freezes
        /// until the next key frame, which the receiving end asks for.
        pub patience: SimDuration = SimDuration::from_millis(500),
        /// No frame is made while those that wait at the sending end take longer to leave than this (libwebrtc: 2 s).
        pub longest_queue: SimDuration = SimDuration::from_secs(2),
    }
}

leobench_base::spec! {
    /// The voice of a call: packets of a constant size that leave at once.
    pub struct VoiceSpec: Default check = VoiceSpec::check {
        /// Bitrate of the codec.
        pub bitrate: BitRate = BitRate::from_bps(32_000),
        /// Length of a packet.
        pub packet: SimDuration = SimDuration::from_millis(20),
        /// Time that the encoder hears ahead (Opus: 6.5 ms).
        pub look_ahead: SimDuration = SimDuration::from_micros(6_500),
        /// The codec whose impairments the rating of the voice assumes. None are published for Opus.
        pub codec: Codec = Codec::G711Plc,
    }
}

leobench_base::words! {
    /// A codec by its impairments (ITU-T G.113, appendix I).
    pub enum Codec {
        /// G.711 with packet-loss concealment: Ie 0, Bpl 25.1.
        G711Plc = "g711_plc",
        /// G.711 without it: Ie 0, Bpl 4.3.
        G711 = "g711",
        /// G.729A with silence suppression: Ie 11, Bpl 19.
        G729a = "g729a",
        /// G.723.1 at 6.3 kbit/s with silence suppression: Ie 15, Bpl 16.1.
        G7231 = "g723_1",
        /// GSM enhanced full rate: Ie 5, Bpl 10.
        GsmEfr = "gsm_efr",
    }
}

impl Codec {
    /// Its equipment impairment factor Ie, and its robustness to packet loss Bpl in percent.
    pub const fn impairment(self) -> (f64, f64) {
        match self {
            Self::G711Plc => (0.0, 25.1),
            Self::G711 => (0.0, 4.3),
            Self::G729a => (11.0, 19.0),
            Self::G7231 => (15.0, 16.1),
            Self::GsmEfr => (5.0, 10.0),
        }
    }
}

impl CallSpec {
    fn check(&self) -> Result<(), Fault> {
        if self.video.is_none() && self.audio.is_none() {
            return Err(Fault::new(
                "video",
                "is missing, and so is `audio`",
                "at least one of both",
            ));
        }
        let least = self.least();
        if self.length < least || self.length > LONGEST {
            let problem = if self.length < least { "is too short" } else { "is too long" };
            let allowed = format!("from {least}, that of a frame or voice packet, to {LONGEST}");
            return Err(Fault::new("length", problem, allowed));
        }
        self.check_carried()
    }

    fn check_carried(&self) -> Result<(), Fault> {
        let Some(video) = self.video.as_ref().filter(|_| self.is_in_streams()) else {
            return Ok(());
        };
        if video.retransmission.is_zero() {
            let problem = "is zero, but packets in streams are cancelled after it";
            let allowed = "a time above zero, or `carried = \"datagrams\"`";
            return Err(Fault::new("video.retransmission", problem, allowed));
        }
        if video.fec > 0.0 {
            let problem = "adds parities to packets that streams repeat";
            return Err(Fault::new("video.fec", problem, "0, or `carried = \"datagrams\"`"));
        }
        Ok(())
    }

    /// Whether every packet travels in a stream of its own.
    pub fn is_in_streams(&self) -> bool {
        self.carried == CallCarried::StreamPerMessage
    }

    /// Attributes of its streams: packets of the picture are cancelled when they are of no use any more.
    pub fn attributes(&self) -> Vec<Attributes> {
        let plain = Attributes { carried: self.carried.into(), ..Attributes::default() };
        let limited = |video: &CameraSpec| Attributes {
            deadline: Some(video.retransmission),
            on_deadline: OnDeadline::Cancel,
            ..plain
        };
        let picture = self.video.as_ref();
        let picture =
            picture.map(|video| if self.is_in_streams() { limited(video) } else { plain });
        // Those of the voice are few, and go first where a scheduler uses urgencies.
        let voice = Attributes { urgency: plain.urgency - 1, ..plain };
        picture.into_iter().chain(self.audio.as_ref().map(|_| voice)).collect()
    }

    /// The length of the shortest call: that of a frame, or of a voice packet if that is longer.
    fn least(&self) -> SimDuration {
        let frame = self.video.as_ref().map_or(SimDuration::ZERO, CameraSpec::frame_interval);
        let voice = self.audio.as_ref();
        frame.max(voice.map_or(SimDuration::ZERO, |audio| audio.packet + audio.look_ahead))
    }

    /// Names of its streams: the picture, the voice, or both.
    pub fn streams(&self) -> Vec<&'static str> {
        let given = [("video", self.video.is_some()), ("audio", self.audio.is_some())];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    /// By its parts, the key that sets the size of packets, and the size of the largest with RTP headers.
    pub fn packets(&self) -> impl Iterator<Item = (&'static str, &'static str, Bytes)> {
        let video = self.video.as_ref().map(|video| ("video", "packet", video.packet));
        let audio = self.audio.as_ref().map(|audio| ("audio", "bitrate", audio.bytes()));
        [video, audio]
            .into_iter()
            .flatten()
            .map(|(part, key, bytes)| (part, key, bytes + RTP_HEADER))
    }

    /// Limits of the rate of picture and voice together.
    pub(super) fn bounds(&self) -> Bounds {
        let voice = self.audio.as_ref().map_or(0.0, |audio| audio.bitrate.bps() as f64);
        let with = |picture: fn(&CameraSpec) -> BitRate| {
            voice + self.video.as_ref().map_or(0.0, |video| picture(video).bps() as f64)
        };
        Bounds { least: with(|v| v.least), start: with(|v| v.start), most: with(|v| v.most) }
    }
}

impl CameraSpec {
    fn check(&self) -> Result<(), Fault> {
        const LEAST_RATE: BitRate = BitRate::from_bps(10_000);
        const MOST_RATE: BitRate = BitRate::from_bps(100_000_000);
        if !(LEAST_RATE..=MOST_RATE).contains(&self.least) {
            let allowed = format!("from {LEAST_RATE} to {MOST_RATE}");
            return Err(Fault::new("least", "is out of range", allowed));
        }
        if self.most < self.least || self.most > MOST_RATE {
            let allowed = format!("from `least`, {}, to {MOST_RATE}", self.least);
            return Err(Fault::new("most", "is out of range", allowed));
        }
        if !(self.least..=self.most).contains(&self.start) {
            let allowed = format!("from `least`, {}, to `most`, {}", self.least, self.most);
            return Err(Fault::new("start", "is out of range", allowed));
        }
        if let Some(every) = self.key_every.filter(|every| *every < self.frame_interval()) {
            let problem = format!("is shorter than a frame: {every}");
            let allowed = format!("at least {}", self.frame_interval());
            return Err(Fault::new("key_every", problem, allowed));
        }
        for (key, value, least, most) in [
            ("key_size", self.key_size, 1.0, 100.0),
            ("variation", self.variation, 0.0, 1.0),
            ("fec", self.fec, 0.0, 1.0),
        ] {
            if !(least..=most).contains(&value) {
                let allowed = format!("a number from {least} to {most}");
                return Err(Fault::new(key, "is out of range", allowed));
            }
        }
        self.check_packet()?;
        for (key, time) in [
            ("retransmission", self.retransmission),
            ("patience", self.patience),
            ("longest_queue", self.longest_queue),
        ] {
            if time > LONGEST_WAIT {
                return Err(Fault::new(key, "is too long", format!("up to {LONGEST_WAIT}")));
            }
        }
        Ok(())
    }

    fn check_packet(&self) -> Result<(), Fault> {
        if !(100..=1_400).contains(&self.packet.get()) {
            return Err(Fault::new("packet", "is out of range", "from 100 B to 1400 B"));
        }
        let key = self.most.bps() as f64 / f64::from(self.frame_rate.get()) * self.key_size;
        if key / self.packet.bits() as f64 > MOST_PACKETS {
            let problem = "makes key frames of too many packets";
            let allowed = format!("a bitrate whose key frames have at most {MOST_PACKETS} packets");
            return Err(Fault::new("most", problem, allowed));
        }
        Ok(())
    }

    /// Time between two frames.
    pub fn frame_interval(&self) -> SimDuration {
        SimDuration::from_secs(1) / u64::from(self.frame_rate.get())
    }
}

impl VoiceSpec {
    fn check(&self) -> Result<(), Fault> {
        let (least, most) = (BitRate::from_bps(1_000), BitRate::from_bps(1_000_000));
        if !(least..=most).contains(&self.bitrate) {
            return Err(Fault::new(
                "bitrate",
                "is out of range",
                format!("from {least} to {most}"),
            ));
        }
        let (least, most) = (SimDuration::from_micros(2_500), SimDuration::from_millis(120));
        if !(least..=most).contains(&self.packet) {
            return Err(Fault::new("packet", "is out of range", format!("from {least} to {most}")));
        }
        if self.look_ahead > most {
            return Err(Fault::new("look_ahead", "is too long", format!("up to {most}")));
        }
        Ok(())
    }

    /// Packets in a call of a length: each leaves when it is full and the encoder has heard ahead.
    pub(super) fn packets(&self, length: SimDuration) -> u64 {
        length.saturating_sub(self.look_ahead).as_nanos() / self.packet.as_nanos()
    }

    /// Bytes of a packet without headers.
    pub fn bytes(&self) -> Bytes {
        let bits = self.bitrate.bps() as f64 * self.packet.as_secs_f64();
        Bytes::new((bits / 8.0).ceil().max(1.0) as u64)
    }
}
