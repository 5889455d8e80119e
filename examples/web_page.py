"""A web page of many objects, which says how long it took to load: `python web_page.py 8000 [OBJECTS BYTES]`.

    chromium --headless --dump-dom http://HOST:8000/ | grep loaded

prints a line such as `<p id="loaded">loaded 30 of 30 objects in 812 ms</p>`.
"""

from __future__ import annotations

import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGE = """<!doctype html><title>page</title><p id="loaded"></p>
{objects}
<script>
addEventListener("load", () => {{
  const came = performance.getEntriesByType("resource").filter(object => object.responseEnd > 0).length
  const took = Math.round(performance.now())
  document.getElementById("loaded").textContent = `loaded ${{came}} of {count} objects in ${{took}} ms`
}})
</script>
"""


class Page(BaseHTTPRequestHandler):
    """Answers with the page, or one of its objects."""

    protocol_version = "HTTP/1.1"
    count, size = 30, 50_000

    def do_GET(self) -> None:
        """Answers a request."""
        if self.path == "/":
            objects = "\n".join(f'<script src="/{number}.js"></script>' for number in range(self.count))
            self._answer("text/html", PAGE.format(objects=objects, count=self.count).encode())
        elif self.path.endswith(".js"):
            self._answer("text/javascript", b"//" + os.urandom(self.size // 2).hex().encode())
        else:
            self.send_error(404)

    def _answer(self, kind: str, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


if __name__ == "__main__":
    port, *more = map(int, sys.argv[1:])
    if more:
        Page.count, Page.size = more
    ThreadingHTTPServer(("", port), Page).serve_forever()
