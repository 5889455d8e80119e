"""HTTP Archives: written from the events of Chromium's network domain, and read as a site to serve."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from leobench.errors import InputError
from tools.against_chromium.shapes import Resource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from tools.against_chromium.shapes import Site

Event = tuple[str, dict[str, Any]]


def archive(events: Iterable[Event], bodies: Mapping[str, bytes]) -> dict[str, Any]:
    """An archive of a load.

    Args:
        events: Names and parameters of the events `Network.*` and `Page.*` of DevTools, in their order.
        bodies: The contents of responses, by request.
    """
    requests: dict[str, dict[str, Any]] = {}
    parsed_s = None
    for name, told in events:
        if name == "Page.domContentEventFired":
            parsed_s = told["timestamp"]
        elif name == "Network.requestWillBeSent":
            requests[told["requestId"]] = {"sent": told, "priority": told["request"]["initialPriority"]}
        elif (request := requests.get(told.get("requestId", ""))) is None:
            continue
        elif name == "Network.resourceChangedPriority":
            request["priority"] = told["newPriority"]
        elif name == "Network.responseReceived":
            request["response"] = told["response"]
        elif name == "Network.loadingFinished":
            request["finished"] = told
    entries = [
        _entry(request, bodies.get(key, b""))
        for key, request in requests.items()
        if {"response", "finished"} <= request.keys() and request["sent"]["request"]["url"].startswith("http")
    ]
    creator = {"name": "leobench tools.against_chromium", "version": "1"}
    pages = [_page(request["sent"], parsed_s) for request in list(requests.values())[:1]]
    return {"log": {"version": "1.2", "creator": creator, "pages": pages, "entries": entries}}


def _page(sent: Mapping[str, Any], parsed_s: float | None) -> dict[str, Any]:
    """The page of the first request, and when its document had been parsed, if it was."""
    parsed_ms = -1 if parsed_s is None else (parsed_s - sent["timestamp"]) * 1e3
    return {
        "startedDateTime": _started(sent),
        "id": "page",
        "title": sent["request"]["url"],
        "pageTimings": {"onContentLoad": parsed_ms, "onLoad": -1},
    }


def _started(sent: Mapping[str, Any]) -> str:
    """When a request began."""
    started = datetime.fromtimestamp(sent["wallTime"], UTC).isoformat(timespec="microseconds")
    return started.replace("+00:00", "Z")


def _entry(request: Mapping[str, Any], body: bytes) -> dict[str, Any]:
    sent, response, finished = request["sent"], request["response"], request["finished"]
    timing = response["timing"]
    # Milliseconds from the request's start, for which the event has seconds of two clocks.
    ahead = (timing["requestTime"] - sent["timestamp"]) * 1e3
    took = (finished["timestamp"] - sent["timestamp"]) * 1e3
    wait = max(0.0, timing["receiveHeadersEnd"] - timing["sendEnd"])
    received = max(0.0, took - ahead - timing["receiveHeadersEnd"])
    initiator = {key: sent["initiator"][key] for key in ("type", "url", "stack") if key in sent["initiator"]}
    return {
        "startedDateTime": _started(sent),
        "time": took,
        "request": {"method": sent["request"]["method"], "url": sent["request"]["url"], "bodySize": 0},
        "response": {
            "status": response["status"],
            "bodySize": len(body),
            "headersSize": -1,
            "_transferSize": int(finished["encodedDataLength"]),
            "content": {
                "size": len(body),
                "mimeType": response["mimeType"],
                "encoding": "base64",
                "text": base64.b64encode(body).decode("ascii"),
            },
        },
        "timings": {"dns": -1, "connect": -1, "send": 0, "wait": wait, "receive": received},
        "_initiator": initiator,
        "_priority": request["priority"],
    }


def site(file: Path) -> Site:
    """The responses of an archive by path; those without a content have as many bytes as were recorded.

    Raises:
        InputError: If the file is no archive.
    """
    try:
        entries = json.loads(file.read_text(encoding="utf-8"))["log"]["entries"]
        return {_path(entry["request"]["url"]): _resource(entry["response"]) for entry in entries}
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: is no HTTP Archive 1.2: {error!r}") from error


def _path(url: str) -> str:
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _resource(response: Mapping[str, Any]) -> Resource:
    content = response.get("content", {})
    kind = content.get("mimeType", "application/octet-stream")
    if "text" not in content:
        return Resource(kind, bytes(max(0, response.get("_transferSize", response["bodySize"]))))
    text = content["text"]
    return Resource(kind, base64.b64decode(text) if content.get("encoding") == "base64" else text.encode())
