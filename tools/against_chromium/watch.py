"""A viewer of a film in dash.js on a host.

`python -m tools.against_chromium.watch URL DASHJS REPLACES READY OUT` waits for the file READY, plays the
manifest at the URL to its end, and writes to the file OUT what it saw. REPLACES is `replace` if the player
may replace segments that it has by better ones, which is its default, or `keep`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.against_chromium import browser

# Seconds that a buffer may hold, in place of the player's own 18 and 30.
MOST_BUFFER_S = 30
# Seconds after which a film that has not ended counts as failed.
LONGEST_S = 900
# Stalls are `waiting` events after the first picture; seeks and the end cause others.
PLAY = """([url, most, longest, replaces]) => new Promise((done, fail) => {
  const video = document.querySelector("video")
  const seen = {started_ms: Date.now(), segments: [], stalls: [], first_ms: null}
  let since = null
  video.addEventListener("playing", () => {
    seen.first_ms ??= Date.now()
    if (since !== null) seen.stalls.push([since, Date.now()])
    since = null
  })
  video.addEventListener("waiting", () => {
    if (seen.first_ms !== null && !video.ended) since ??= Date.now()
  })
  video.addEventListener("ended", () => done(seen))
  setTimeout(() => fail(new Error(`the film did not end within ${longest} s`)), 1000 * longest)
  const player = dashjs.MediaPlayer().create()
  player.updateSettings({streaming: {buffer: {...(replaces ? {} : {fastSwitchEnabled: false}),
    bufferTimeDefault: most, bufferTimeAtTopQuality: most, bufferTimeAtTopQualityLongForm: most}}})
  player.on(dashjs.MediaPlayer.events.FRAGMENT_LOADING_COMPLETED, told => {
    const asked = told.request
    if (asked.type !== "MediaSegment") return
    seen.segments.push({index: asked.index, bitrate: asked.representation.bandwidth, duration: asked.duration,
      bytes: asked.bytesTotal, asked_ms: asked.startDate.getTime(), ms: Date.now(),
      buffer_s: player.getBufferLength("video"), throughput_kbps: player.getAverageThroughput("video")})
  })
  player.on(dashjs.MediaPlayer.events.ERROR, told => fail(new Error(JSON.stringify(told.error))))
  player.initialize(video, url, true)
})"""


def main() -> None:
    """Watches a film."""
    url, dashjs, replaces, ready, out = sys.argv[1:]
    browser.wait_for(Path(ready))
    with browser.started("--autoplay-policy=no-user-gesture-required") as started:
        page = started.new_page(ignore_https_errors=True)
        page.goto(f"{url.rsplit('/', 1)[0]}/index.html")
        page.add_script_tag(path=dashjs)
        seen = page.evaluate(PLAY, [url, MOST_BUFFER_S, LONGEST_S, replaces == "replace"])
    Path(out).write_text(json.dumps(seen), encoding="utf-8")


if __name__ == "__main__":
    main()
