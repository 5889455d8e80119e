//! Checks of what the senders of flows are told of their paths, and of controllers that cannot do without.

use leobench_base::spec::{SpecError, cut};
use leobench_transport::congestion::CongestionModel;

use super::Place;
use crate::scenario::{Direction, FlowSpec, ScenarioSpec};

/// Refuses reports of the link layer where there is nothing to report or nobody to tell.
pub(super) fn check(spec: &ScenarioSpec, flow: &FlowSpec, at: &Place<'_>) -> Result<(), SpecError> {
    let transport = at.key("transport");
    let congestion = transport.key("congestion");
    let model = flow.transport.model();
    if let Some(controller) = model.congestion() {
        informed(flow, (controller.model(), controller.name()), &congestion)?;
    }
    if flow.cross_layer.is_none() {
        return Ok(());
    }
    let at = at.key("cross_layer");
    adapts(flow, "cross_layer", &at)?;
    if !model.takes_reports() {
        let name = model.stack().unwrap_or(flow.transport.kind());
        let error = at.error(format!("is not passed on by the stack `{name}` here"));
        return Err(error.allowed("no `cross_layer`, or the stack `own`"));
    }
    let directions = spec.access_directions(flow);
    if directions.is_empty() {
        let error = at.error("has no access link to report on");
        return Err(error.allowed("a link through a `constellation` on the way of the data"));
    }
    for direction in directions {
        let (link, direction) = spec.direction(direction);
        let (name, link) = &spec.links[link];
        let Some(passage) = &link.constellation else { continue };
        let (budget, key) = match direction {
            Direction::Forward => (&passage.uplink, "uplink"),
            Direction::Backward => (&passage.downlink, "downlink"),
        };
        if budget.is_none() {
            let name = cut(name);
            let problem = format!(
                "reports the signal-to-noise ratio of link `{name}`, which has no budget in the direction of the data"
            );
            let allowed = format!("`links.{name}.constellation.{key}`, or no `cross_layer`");
            return Err(at.error(problem).allowed(allowed));
        }
    }
    Ok(())
}

/// Refuses the knowledge that a key gives to a sender which could not use it.
pub(super) fn adapts(flow: &FlowSpec, key: &str, at: &Place<'_>) -> Result<(), SpecError> {
    if flow.transport.model().congestion().is_some() {
        return Ok(());
    }
    let kind = flow.transport.kind();
    let error = at.error(format!(
        "applies only to senders that adapt their rate: `{kind}` sends as fast as its source"
    ));
    Err(error.allowed(format!("no `{key}`, or the transport `quic` or `tcp`")))
}

/// Refuses a controller that needs to be told what the flow's sender is not told.
fn informed(
    flow: &FlowSpec,
    (model, name): (&dyn CongestionModel, &str),
    at: &Place<'_>,
) -> Result<(), SpecError> {
    let (what, key) = if model.needs_access() && flow.cross_layer.is_none() {
        ("reports on its access links", "cross_layer")
    } else if model.needs_forecast() && flow.forecast.is_none() {
        ("forecasts", "forecast")
    } else {
        return Ok(());
    };
    let problem = format!("is `{name}`, which needs {what}, but the flow has none");
    Err(at.error(problem).allowed(format!("a `{key}` for the flow, or another controller")))
}

#[cfg(test)]
mod tests {
    use leobench_base::spec::{At, Spec, Value};
    use leobench_transport::congestion::{CongestionContext, CongestionControl, CubicSpec};

    use super::*;

    /// A controller that needs to be told.
    struct Knowing {
        access: bool,
        forecast: bool,
    }

    impl CongestionModel for Knowing {
        fn build(&self, context: &CongestionContext<'_>) -> Box<dyn CongestionControl> {
            CubicSpec::default().build(context)
        }

        fn needs_access(&self) -> bool {
            self.access
        }

        fn needs_forecast(&self) -> bool {
            self.forecast
        }
    }

    #[test]
    fn controllers_are_told_what_they_need() {
        let flow = |keys: &str| {
            let text = format!(
                r#"{{"transport": "quic", "from": "a", "to": "b", "source": "bulk"{keys}}}"#
            );
            let value: Value = serde_json::from_str(&text).unwrap();
            (FlowSpec::read(&value, &At::ROOT).unwrap(), value)
        };
        let said = |access, forecast, keys: &str| {
            let (flow, value) = flow(keys);
            let root = Place::root(&value);
            let at = root.key("transport");
            let at = at.key("congestion");
            let informed = informed(&flow, (&Knowing { access, forecast }, "knowing"), &at);
            informed.map_err(|error| error.to_string())
        };
        let both = r#", "cross_layer": {}, "forecast": {}"#;
        for (access, forecast) in [(false, false), (true, false), (false, true), (true, true)] {
            assert_eq!(said(access, forecast, both), Ok(()));
        }
        assert_eq!(said(false, false, ""), Ok(()));
        assert_eq!(
            said(true, false, r#", "forecast": {}"#).unwrap_err(),
            "transport.congestion: is `knowing`, which needs reports on its access links, but the flow has none; \
             allowed: a `cross_layer` for the flow, or another controller"
        );
        assert_eq!(
            said(false, true, r#", "cross_layer": {}"#).unwrap_err(),
            "transport.congestion: is `knowing`, which needs forecasts, but the flow has none; allowed: a `forecast` \
             for the flow, or another controller"
        );
    }
}
