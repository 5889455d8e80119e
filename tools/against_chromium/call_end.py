"""An end of a WebRTC call on a host: `python -m tools.against_chromium.call_end ROLE FOLDER [...]`.

The role is `receiver`, or `sender` with the seconds of the call, its highest bitrate in bit/s and the film
for its camera. Both exchange their descriptions by files in the folder. The sender writes statistics every
half second of the call to the file `out` there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tools.against_chromium import browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

FAKE = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
# Host names of multicast DNS in candidates would lead nowhere.
PLAIN = "--disable-features=WebRtcHideLocalIpsWithMdns"
EVERY_S = 0.5

# A description with all its candidates.
GATHERED = """new Promise(done => {
  const check = () =>
    connection.iceGatheringState === "complete" && done(connection.localDescription.toJSON())
  connection.onicegatheringstatechange = check
  check()
})"""
OFFER = """async most => {
  globalThis.connection = new RTCPeerConnection()
  const [stream] = [await navigator.mediaDevices.getUserMedia({video: {frameRate: 30}, audio: true})]
  for (const track of stream.getTracks()) {
    if (track.kind === "video") track.contentHint = "motion"
    connection.addTrack(track, stream)
  }
  const sender = connection.getSenders().find(each => each.track.kind === "video")
  await connection.setLocalDescription(await connection.createOffer())
  const parameters = sender.getParameters()
  parameters.degradationPreference = "maintain-resolution"
  parameters.encodings[0].maxBitrate = most
  await sender.setParameters(parameters)
  return await GATHERED
}""".replace("GATHERED", GATHERED)
ANSWER = """async offer => {
  globalThis.connection = new RTCPeerConnection()
  connection.ontrack = event => {
    const shown = document.createElement(event.track.kind)
    shown.srcObject = event.streams[0]
    shown.muted = shown.autoplay = true
    document.body.append(shown)
  }
  await connection.setRemoteDescription(offer)
  await connection.setLocalDescription(await connection.createAnswer())
  return await GATHERED
}""".replace("GATHERED", GATHERED)
STATISTICS = "async () => [...(await connection.getStats()).values()]"


def post(file: Path, content: Any) -> None:
    """Writes a file that another program waits for, all at once."""
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(content), encoding="utf-8")
    draft.rename(file)


def fetched(file: Path) -> Any:
    """The content of a file, once it is there."""
    browser.wait_for(file)
    return json.loads(file.read_text(encoding="utf-8"))


def send(page: Page, folder: Path, seconds: float, most_bps: float) -> None:
    """Calls, and writes statistics for so long."""
    offer = page.evaluate(OFFER, most_bps)
    fetched(folder / "receiver")
    post(folder / "offer", offer)
    page.evaluate("answer => connection.setRemoteDescription(answer)", fetched(folder / "answer"))
    began = time.monotonic()
    began = time.monotonic()
    samples: list[list[dict[str, Any]]] = []
    while (passed := time.monotonic() - began) < seconds:
        time.sleep(max(0.0, EVERY_S * (len(samples) + 1) - passed))
        samples.append(page.evaluate(STATISTICS))
    post(folder / "out", {"samples": samples})


def receive(page: Page, folder: Path) -> None:
    """Answers, and stays until it is ended."""
    post(folder / "receiver", True)
    answer = page.evaluate(ANSWER, fetched(folder / "offer"))
    post(folder / "answer", answer)
    page.wait_for_timeout(1e9)


def main() -> None:
    """Runs an end."""
    role, folder, *more = sys.argv[1:]
    options = [*FAKE, PLAIN]
    if role == "sender":
        options.append(f"--use-file-for-fake-video-capture={more[2]}")
    with browser.started(*options) as started:
        page = started.new_page(ignore_https_errors=True)
        # Cameras are for secure contexts only.
        page.route(
            "**/*", lambda route: route.fulfill(body="<!doctype html><body>", content_type="text/html")
        )
        page.goto("https://call.invalid/")
        if role == "sender":
            send(page, Path(folder), float(more[0]), float(more[1]))
        else:
            receive(page, Path(folder))


if __name__ == "__main__":
    main()
