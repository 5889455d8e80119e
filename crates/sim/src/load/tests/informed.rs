//! Controllers that need to be told of their paths, and flows whose senders are not.

use super::load_text;

#[test]
fn controllers_that_need_to_be_told() {
    let van = include_str!("../../../../../scenarios/maco-chain.toml");
    let place = "flows.upload.transport.congestion";
    let alone = ("flows.upload.transport", r#"{ kind = "quic", congestion = "cubic" }"#);
    let load = |overrides: &[(&str, &str)]| load_text(van, overrides).map(|_| ());
    let (store, forecast) = (("flows.upload.cross_layer", "{}"), ("flows.upload.forecast", "{}"));
    let maco = (place, r#""maco""#);
    assert_eq!(
        load(&[maco, forecast]).unwrap_err(),
        format!(
            "t.toml: {place} = \"maco\": is `maco`, which needs reports on its access links, but the flow has none; allowed: a \
             `cross_layer` for the flow, or another controller"
        )
    );
    load(&[maco, store]).unwrap();
    load(&[(place, r#"{ kind = "maco", store = false }"#)]).unwrap();
    let satcp = (place, r#""satcp""#);
    assert_eq!(
        load(&[alone, satcp, store]).unwrap_err(),
        format!(
            "t.toml: {place} = \"satcp\": is `satcp`, which needs forecasts, but the flow has none; allowed: a `forecast` for \
             the flow, or another controller"
        )
    );
    load(&[alone, satcp, forecast]).unwrap();
    for (kind, problem) in [
        ("maco", "which couples the paths of a connection: `noq` uses one path here"),
        ("satcp", "which uses forecasts: `noq` does not pass them on here"),
        ("leocc", "which uses forecasts: `noq` does not pass them on here"),
    ] {
        let noq = format!(r#"{{ kind = "quic", stack = "noq", congestion = "{kind}" }}"#);
        let error = load(&[("flows.upload.transport", &noq), forecast]).unwrap_err();
        let expected = format!("t.toml: {place} = \"{kind}\": is `{kind}`, {problem}; allowed: ");
        assert!(error.starts_with(&expected), "{error}");
    }
}
