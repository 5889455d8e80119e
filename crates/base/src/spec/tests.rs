use proptest::prelude::*;

use super::*;
use crate::time::SimDuration;
use crate::units::{BitRate, Bytes};

crate::words! {
    /// A choice.
    pub enum Colour {
        /// Red.
        Red = "red",
        /// Green.
        Green = "green",
    }
}

crate::spec! {
    /// A queue that shows off.
    ///
    /// More words.
    pub struct ShowSpec example = r#"{"rate": "5 bps", "limit": "3 packets"}"# check = check_show {
        /// How much fits.
        pub limit: Limit = Limit::Unlimited,
        /// How fast.
        pub rate: BitRate,
        /// Of what colour.
        pub colour: Option<Colour>,
    }
}

fn check_show(show: &ShowSpec) -> Result<(), Fault> {
    if show.rate.is_zero() {
        return Err(Fault::new("rate", "is zero", "a rate above zero"));
    }
    Ok(())
}

crate::spec! {
    /// Nothing to say.
    pub struct PlainSpec {}
}

crate::spec! {
    /// Goes by what it wraps.
    pub struct WrapSpec example = r#"{"wrap": "gift", "paper": {"layers": [2, true]}}"# {
        /// The wrapped thing.
        pub wrap: String,
        /// How.
        pub paper: Table = Table::new(),
    }
}

pub trait Named {
    fn name(&self) -> &'static str;
}

impl Named for ShowSpec {
    fn name(&self) -> &'static str {
        "show"
    }
}

impl Named for PlainSpec {
    fn name(&self) -> &'static str {
        "plain"
    }
}

impl Named for WrapSpec {
    fn name(&self) -> &'static str {
        "wrap"
    }
}

crate::kinds! {
    /// All kinds.
    pub enum AnySpec as dyn Named {
        Show(ShowSpec) = "show",
        Plain(PlainSpec) = "plain",
        Wrap(WrapSpec) = "wrap",
    }
    refuses { "shout" = "is not modelled: nobody wrote it down" }
}

crate::spec! {
    /// Keys in common.
    pub struct CommonSpec: Default check = check_common {
        /// How many.
        pub count: u64 = 3,
        /// Of what colour.
        pub colour: Option<Colour>,
    }
}

fn check_common(common: &CommonSpec) -> Result<(), Fault> {
    if common.count > 9 {
        return Err(Fault::new("count", "is too large", "at most 9"));
    }
    Ok(())
}

crate::spec! {
    /// Takes the keys in common in.
    pub struct MoreSpec: Default {
        ..pub common: CommonSpec,
        /// How fast.
        pub rate: BitRate = BitRate::from_bps(7),
    }
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn message<T: Spec + std::fmt::Debug>(json: &str) -> String {
    let at = At::ROOT.key("links");
    T::read(&value(json), &at.key("up")).unwrap_err().to_string()
}

#[test]
fn a_table_reads_its_keys_and_fills_in_defaults() {
    let read = AnySpec::read(&value(r#"{"kind": "show", "rate": "45 Mbps"}"#), &At::ROOT).unwrap();
    let expected =
        ShowSpec { limit: Limit::Unlimited, rate: BitRate::from_bps(45_000_000), colour: None };
    assert_eq!(read, AnySpec::Show(expected));
    assert_eq!(read.model().name(), "show");
    assert_eq!(AnySpec::read(&value(r#""plain""#), &At::ROOT).unwrap().kind(), "plain");
}

#[test]
fn a_key_named_after_its_kind_goes_without_it() {
    let read = |json: &str| AnySpec::read(&value(json), &At::ROOT);
    let short = read(r#"{"wrap": "gift", "paper": {"layers": [2, true]}}"#).unwrap();
    assert_eq!(short, AnySpec::Wrap(WrapSpec::example()));
    assert_eq!(
        read(r#"{"kind": "wrap", "wrap": "gift", "paper": {"layers": [2, true]}}"#).unwrap(),
        short
    );
    // A kind that has no such key is not guessed.
    assert_eq!(
        message::<AnySpec>(r#"{"show": {"rate": "1 bps"}}"#),
        "links.up.kind: is required but missing; allowed: `show`, `plain`, `wrap`"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"wrap": "gift", "papr": {}}"#),
        "links.up.papr = {}: unknown key; allowed: `wrap`, `paper`; did you mean `paper`?"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"wrap": "gift", "paper": 3}"#),
        "links.up.paper = 3: is an integer, not a table; allowed: a table"
    );
    let schema = AnySpec::schema();
    let wrap = schema["oneOf"].as_array().unwrap().last().unwrap();
    assert_eq!(wrap["required"], json!(["wrap"]));
    assert_eq!(wrap["properties"]["kind"], json!({"const": "wrap"}));
}

#[test]
fn what_is_written_reads_back() {
    for example in AnySpec::examples() {
        assert_eq!(AnySpec::read(&example.write(), &At::ROOT).unwrap(), example);
    }
}

#[test]
fn errors_say_where_what_and_what_would_be_right() {
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "show", "rate": "1 bps", "limits": 3}"#),
        "links.up.limits = 3: unknown key; allowed: `limit`, `rate`, `colour`; did you mean `limit`?"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "sow"}"#),
        "links.up.kind = \"sow\": unknown kind; allowed: `show`, `plain`, `wrap`; did you mean `show`?"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "Shout"}"#),
        "links.up.kind = \"Shout\": is not modelled: nobody wrote it down; allowed: `show`, `plain`, `wrap`"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "show", "rate": "45 Mb"}"#),
        "links.up.rate = \"45 Mb\": has an unknown unit \"Mb\"; allowed: a rate with its unit (bps, kbps, \
         Mbps, Gbps), such as \"45 Mbps\"; did you mean `45 Mbps`?"
    );
    assert_eq!(message::<AnySpec>(r#"{"kind": "show"}"#), "links.up.rate: is required but missing");
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "show", "rat": "1 bps"}"#),
        "links.up.rat = \"1 bps\": unknown key; allowed: `limit`, `rate`, `colour`; did you mean `rate`?"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "show", "rate": "0 bps"}"#),
        "links.up.rate = \"0 bps\": is zero; allowed: a rate above zero"
    );
    assert_eq!(
        message::<AnySpec>(r#"{"kind": "show", "rate": "1 bps", "colour": "grean"}"#),
        "links.up.colour = \"grean\": unknown word; allowed: `red`, `green`; did you mean `green`?"
    );
    assert_eq!(
        message::<Vec<BitRate>>(r#"["1 bps", "-1 Mbps"]"#),
        "links.up[1] = \"-1 Mbps\": is negative; allowed: a rate with its unit (bps, kbps, Mbps, Gbps), such as \
         \"45 Mbps\""
    );
    assert_eq!(
        message::<Probability>("1.5"),
        "links.up = 1.5: is out of range; allowed: a number from 0 to 1"
    );
}

#[test]
fn bytes_are_offered_in_bits_and_bits_in_bytes() {
    let at = At::ROOT;
    let rate = |text: &str| BitRate::read(&Value::String(text.into()), &at).unwrap_err().nearest;
    let size = |text: &str| Bytes::read(&Value::String(text.into()), &at).unwrap_err().nearest;
    for (given, meant) in [
        ("150 MB/s", "1200 Mbps"),
        ("12.5 kB/s", "100 kbps"),
        ("3 KB/s", "24 kbps"),
        ("1.5 GB/s", "12 Gbps"),
        ("2 MiB/s", "16.777216 Mbps"),
        ("1 KiB/s", "8.192 kbps"),
        ("9 B/s", "72 bps"),
        ("20 MBps", "160 Mbps"),
        ("20 Mbyte/s", "160 Mbps"),
        ("20 MB", "160 Mbps"),
        // Bits stay bits.
        ("20 Mb/s", "20 Mbps"),
        ("20 mbps", "20 Mbps"),
    ] {
        assert_eq!(rate(given).as_deref(), Some(meant), "{given}");
        BitRate::read(&Value::String(meant.into()), &at).unwrap();
    }
    assert_eq!(rate("0.01 B/s"), None);
    assert_eq!(rate("4000000000 GB/s"), None);
    for (given, meant) in [("12 Mbit", "1.5 MB"), ("8 kbits", "1 kB"), ("12 mb", "12 MB")] {
        assert_eq!(size(given).as_deref(), Some(meant), "{given}");
    }
    assert_eq!(size("1 bit"), None);
    let limit = Limit::read(&Value::String("12 Mbit".into()), &at).unwrap_err();
    assert_eq!(limit.nearest.as_deref(), Some("1.5 MB"));
}

#[test]
fn a_ratio_is_a_number_or_a_ratio_of_two() {
    let read = |json: &str| Ratio::read(&value(json), &At::ROOT);
    for (json, factor) in
        [("0.5", 0.5), ("2", 2.0), (r#""20/150""#, 20.0 / 150.0), (r#"" 1.5 / 3 ""#, 0.5)]
    {
        let ratio = read(json).unwrap();
        assert_eq!(ratio.get().to_bits(), f64::to_bits(factor), "{json}");
        assert_eq!(Ratio::read(&ratio.write(), &At::ROOT).unwrap(), ratio);
    }
    assert_eq!(
        read(r#""20:150""#).unwrap_err().to_string(),
        "\"20:150\": is not a ratio; allowed: a number above 0, or a ratio of two such as \"20/150\""
    );
    for json in [
        "0",
        "-1",
        r#""0.5""#,
        r#""1/0""#,
        r#""0/1""#,
        r#""1/2/3""#,
        r#""inf/1""#,
        r#""-1/-2""#,
        r#""1e300/1e-300""#,
        r#""/""#,
        "[1]",
    ] {
        let error = read(json).expect_err(json);
        assert!(error.to_string().ends_with("\"20/150\""), "{error}");
    }
}

#[test]
fn a_fault_shows_the_value_of_its_field_however_deep() {
    let steps = value(r#"{"steps": [{"at": "0 s"}, {"at": "1 s", "rate": {}}]}"#);
    let shown = |field: &str| Fault::new(field, "is bad", "good").at(&steps, &At::ROOT).to_string();
    assert_eq!(shown("steps[1].at"), "steps[1].at = \"1 s\": is bad; allowed: good");
    assert_eq!(shown("steps[1].rate"), "steps[1].rate = {}: is bad; allowed: good");
    assert_eq!(shown("steps[2].at"), "steps[2].at: is bad; allowed: good");
}

#[test]
fn quantities_are_exact() {
    let at = At::ROOT;
    let duration = |text: &str| SimDuration::read(&Value::String(text.into()), &at);
    assert_eq!(duration("0.2530 s").unwrap().as_nanos(), 253_000_000);
    assert_eq!(duration("1.5ms").unwrap().as_nanos(), 1_500_000);
    assert_eq!(duration("2 min").unwrap(), SimDuration::from_secs(120));
    assert!(duration("0.5 ns").unwrap_err().problem.contains("whole number"));
    assert!(duration("1..5 s").is_err());
    assert!(duration("s").is_err());
    assert!(duration("99999999999 h").unwrap_err().problem.contains("too large"));
    assert_eq!(Limit::read(&Value::String("1 packet".into()), &at).unwrap(), Limit::Packets(1));
    assert_eq!(
        Limit::read(&Value::String("30 kB".into()), &at).unwrap(),
        Limit::Bytes(Bytes::new(30_000))
    );
}

#[test]
fn a_limit_in_packets_is_refused_as_one() {
    let refused = |text: &str| message::<Limit>(&format!("{text:?}"));
    assert!(refused("-1 packets").contains("is negative"), "{}", refused("-1 packets"));
    assert!(refused("1.5 packets").contains("is not a whole number"));
    assert!(refused("15 pakets").contains("did you mean `15 packets`?"));
    assert!(refused("15 kb").contains("did you mean `15 kB`?"));
}

#[test]
fn a_number_a_file_cannot_say_is_not_asked_for() {
    assert!(message::<u64>("-1").ends_with("a whole number from 0 to 9223372036854775807"));
    assert!(message::<u16>("65536").ends_with("a whole number from 0 to 65535"));
}

#[test]
fn duplicate_names_are_refused() {
    let error = serde_json::from_str::<Value>(r#"{"a": 1, "a": 2}"#).unwrap_err();
    assert!(error.to_string().contains("given twice"), "{error}");
}

#[test]
fn the_schema_says_what_reading_accepts() {
    let schema = AnySpec::schema();
    let show = &schema["oneOf"][0];
    assert_eq!(show["required"], json!(["kind", "rate"]));
    assert_eq!(show["additionalProperties"], json!(false));
    assert_eq!(show["properties"]["limit"]["description"], json!("How much fits."));
    assert_eq!(show["properties"]["limit"]["default"], json!("unlimited"));
    assert_eq!(show["properties"]["rate"].get("default"), None);
    let title = show["properties"]["rate"]["title"].as_str().unwrap();
    assert!(title.starts_with("a rate with its unit"), "{title}");
    assert_eq!(schema["oneOf"][1], json!({"const": "plain"}));
    assert_eq!(AnySpec::summaries()[0], ("show", "A queue that shows off."));
    assert_eq!(Colour::summaries(), [("red", "Red."), ("green", "Green.")]);
}

#[test]
fn defaults_are_those_of_the_fields() {
    let common = CommonSpec { count: 3, colour: None };
    let more = MoreSpec { common, rate: BitRate::from_bps(7) };
    assert_eq!(MoreSpec::default(), more);
    assert_eq!(MoreSpec::read(&value("{}"), &At::ROOT).unwrap(), more);
}

#[test]
fn a_table_takes_in_the_keys_of_another() {
    let read = MoreSpec::read(&value(r#"{"count": 4, "rate": "8 bps"}"#), &At::ROOT).unwrap();
    assert_eq!((read.common.count, read.rate), (4, BitRate::from_bps(8)));
    assert_eq!(read.write().to_string(), r#"{ count = 4, rate = "8 bps" }"#);
    assert_eq!(
        message::<MoreSpec>(r#"{"counts": 4}"#),
        "links.up.counts = 4: unknown key; allowed: `count`, `colour`, `rate`; did you mean `count`?"
    );
    assert_eq!(
        message::<MoreSpec>(r#"{"count": 10}"#),
        "links.up.count = 10: is too large; allowed: at most 9"
    );
    let schema = MoreSpec::schema();
    assert_eq!(schema["properties"]["count"]["default"], json!(3));
    assert_eq!(schema["properties"]["rate"]["default"], json!("7 bps"));
}

#[test]
fn an_example_is_read_as_a_scenario_is() {
    let examples = AnySpec::examples();
    let show = ShowSpec { limit: Limit::Packets(3), rate: BitRate::from_bps(5), colour: None };
    assert_eq!(examples[0], AnySpec::Show(show));
    let shown = &AnySpec::schema()["oneOf"][0]["examples"];
    assert_eq!(*shown, json!([{"kind": "show", "rate": "5 bps", "limit": "3 packets"}]));
}

proptest! {
    #[test]
    fn quantities_survive_writing(amount in 0u64..=1_000_000_000_000_000_000) {
        let at = At::ROOT;
        let span = SimDuration::from_nanos(amount);
        prop_assert_eq!(SimDuration::read(&span.write(), &at).unwrap(), span);
        let size = Bytes::new(amount);
        prop_assert_eq!(Bytes::read(&size.write(), &at).unwrap(), size);
        let rate = BitRate::from_bps(amount / 10_000);
        prop_assert_eq!(BitRate::read(&rate.write(), &at).unwrap(), rate);
    }
}

#[test]
fn messages_stay_short_whatever_the_file_says() {
    let huge = "0".repeat(1_000_000);
    let refusal = |json: String| match serde_json::from_str(&json) {
        Ok(value) => ShowSpec::read(&value, &At::ROOT).unwrap_err().to_string(),
        // A key is too long before it is read.
        Err(error) => error.to_string(),
    };
    let value = refusal(format!(r#"{{"rate": "{huge}"}}"#));
    assert!(value.starts_with(&format!("rate = \"{}\"… (1000000 characters): ", "0".repeat(80))));
    assert!(value.len() < 500, "{} bytes", value.len());
    for json in [
        format!(r#"{{"{huge}": 1, "rate": "1 bps"}}"#),
        format!(r#"{{"rate": {{"{huge}": "{huge}"}}}}"#),
        format!(r#"{{"rate": "1 bps", "colour": "{huge}"}}"#),
        format!(r#"{{"rate": [{}1]}}"#, "1, ".repeat(100_000)),
    ] {
        let message = refusal(json);
        assert!(message.len() < 1_000, "{} bytes", message.len());
    }
    let problem = SpecError { problem: huge, ..At::ROOT.missing("") };
    assert!(problem.to_string().ends_with("0… (1000000 characters)"));
    let names: Vec<_> = (0..10_000).map(|number| format!("node-{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let listed = At::ROOT.missing("no such node").words("node-10000", &names).to_string();
    assert!(listed.contains("`node-39`, and 9960 more; did you mean `node-1000`?"), "{listed}");
}

#[test]
fn tables_find_their_keys_whatever_was_taken_out() {
    let mut table = Table::new();
    for (key, value) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        table.insert(key, Value::Integer(value));
    }
    assert_eq!(table.remove("b"), Some(Value::Integer(2)));
    assert_eq!(table.remove("b"), None);
    table.insert("c", Value::Integer(5));
    table.insert("b", Value::Integer(6));
    let seen: Vec<_> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    assert_eq!(seen, ["a = 1", "c = 5", "d = 4", "b = 6"]);
    for (key, value) in table.iter() {
        assert_eq!(table.get(key), Some(value));
    }
}

#[test]
fn limits_are_packets_bytes_or_what_a_link_carries() {
    let read = |json: &str| Limit::read(&serde_json::from_str(json).unwrap(), &At::ROOT);
    let carried = |span, link: Option<&str>| Limit::Carried { span, link: link.map(str::to_owned) };
    let ms = |millis| Span::Time(SimDuration::from_millis(millis));
    for (json, limit, written) in [
        (r#""7 packets""#, Limit::Packets(7), r#""7 packets""#),
        (r#""30 kB""#, Limit::Bytes(Bytes::new(30_000)), r#""30 kB""#),
        (r#""unlimited""#, Limit::Unlimited, r#""unlimited""#),
        (r#""1 BDP""#, carried(Span::Products(1_000_000), None), r#""1 BDP""#),
        (r#"" 1.25 BDP""#, carried(Span::Products(1_250_000), None), r#""1.25 BDP""#),
        (r#""0.2 s""#, carried(ms(200), None), r#""200 ms""#),
        (r#"{"bdp": 2}"#, carried(Span::Products(2_000_000), None), r#""2 BDP""#),
        (
            r#"{"bdp": 0.5, "link": "leo"}"#,
            carried(Span::Products(500_000), Some("leo")),
            r#"{"bdp":0.5,"link":"leo"}"#,
        ),
        (
            r#"{"time": "100 ms", "link": "leo"}"#,
            carried(ms(100), Some("leo")),
            r#"{"time":"100 ms","link":"leo"}"#,
        ),
    ] {
        let found = read(json).unwrap();
        assert_eq!(found, limit);
        assert_eq!(serde_json::to_string(&found.write()).unwrap(), written);
        assert_eq!(Limit::read(&found.write(), &At::ROOT).unwrap(), limit);
    }
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    for (json, place, problem, nearest) in [
        (r#""1 bdp""#, "", "unknown unit", Some("1 BDP")),
        (r#""7 pakets""#, "", "unknown unit", Some("7 packets")),
        (r#""7""#, "", "has no unit", None),
        (r#""-1 BDP""#, "", "is negative", None),
        (r#""1.2345678 BDP""#, "", "is not a whole number of the smallest unit", None),
        (r#""0.5 packets""#, "", "is not a whole number of the smallest unit", None),
        ("7", "", "is a bare number without a unit", None),
        (r#"{"bdp": 1, "time": "1 s"}"#, "", "is not a limit", None),
        (r#"{"link": "leo"}"#, "", "is not a limit", None),
        (r#"{"bpd": 1}"#, "bpd", "unknown key", Some("bdp")),
        (r#"{"bdp": -1}"#, "bdp", "is out of range", None),
        (r#"{"time": "5"}"#, "time", "has no unit", None),
    ] {
        let error = Limit::read(&serde_json::from_str(json).unwrap(), &At::ROOT).expect_err(json);
        assert_eq!(error.place, place, "{error}");
        assert!(error.problem.contains(problem), "{error}");
        assert_eq!(error.nearest.as_deref(), nearest, "{error}");
    }
}

#[test]
fn the_only_word_that_begins_like_another_is_meant() {
    const WORDS: [&str; 3] = ["datagrams", "stream_per_message", "stop"];
    let nearest = |word: &str| {
        let error = At::ROOT.missing("unknown word").words(word, &WORDS).or_longer(word, &WORDS);
        error.nearest
    };
    for word in ["stream", "streams", "stream_per_mesage"] {
        assert_eq!(nearest(word).as_deref(), Some("stream_per_message"), "{word}");
    }
    assert_eq!(nearest("stopp").as_deref(), Some("stop"), "what is near comes first");
    for word in ["data", "streamlined", ""] {
        let found = nearest(word);
        assert_eq!(found.as_deref(), (word == "data").then_some("datagrams"), "{word}");
    }
}
