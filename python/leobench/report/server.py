"""The page of a folder that is being written, on loopback, for whoever sits at this machine.

Each answer is made from the folder as it is then. Requests that name another host are refused: a page from
elsewhere could reach this server by a name that resolves to 127.0.0.1.
"""

from __future__ import annotations

import json
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from leobench.errors import InputError, LeobenchError
from leobench.report import page

if TYPE_CHECKING:
    from leobench.report.content import Content
    from leobench.report.watch import Watch

HOST = "127.0.0.1"

# Parts of others that the page fetches when it needs them.
_PARTS = ("globe.gl.js", "land.json")

# Seconds for which a look at the folder is good.
_FRESH_S = 1.0


class Server(ThreadingHTTPServer):
    """Serves the page of one folder.

    Raises:
        InputError: If the port is taken, or may not be used.
    """

    daemon_threads = True

    def __init__(self, watch: Watch, port: int = 0) -> None:
        self.watch = watch
        self._looking = threading.Lock()
        self._looked = -_FRESH_S
        try:
            super().__init__((HOST, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"--port = {port}: cannot be used ({error}); allowed: a free port, or 0"
            ) from error

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"

    def content(self) -> Content:
        """The content of the page, not older than a second."""
        with self._looking:
            if time.monotonic() - self._looked >= _FRESH_S:
                self.watch.look()
                self._looked = time.monotonic()
            return self.watch.content


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "leobench"
    sys_version = ""

    def do_GET(self) -> None:
        """Answers with the page, its content, a table or a part."""
        if self.headers.get("Host") not in (
            f"{HOST}:{self.server.server_port}",
            f"localhost:{self.server.server_port}",
        ):
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"leobench view answers to 127.0.0.1 only")
            return
        asked = urlsplit(self.path)
        path, query = unquote(asked.path), parse_qs(asked.query)
        try:
            if path == "/":
                title = self.server.watch.folder.name or "leobench"
                self._answer(HTTPStatus.OK, "text/html; charset=utf-8", page.served(title).encode())
            elif path == "/content":
                self._content(query.get("version", [""])[0])
            elif path.startswith("/table/"):
                self._table(path.removeprefix("/table/"))
            elif path.removeprefix("/part/") in _PARTS:
                data = (page.ASSETS / "vendor" / path.removeprefix("/part/")).read_bytes()
                self._answer(HTTPStatus.OK, "application/octet-stream", data)
            else:
                self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"not found")
        except (LeobenchError, OSError) as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", str(error).encode())

    def _content(self, version: str) -> None:
        described = self.server.content().described()
        if version == str(described["live"]["version"]):
            self._answer(HTTPStatus.NO_CONTENT, "application/json", b"")
            return
        self._answer(HTTPStatus.OK, "application/json", json.dumps(described).encode())

    def _table(self, name: str) -> None:
        table = dict(self.server.watch.content.tables()).get(name)
        if table is None:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"this table is not there any more")
            return
        self._answer(HTTPStatus.OK, "application/octet-stream", table.data)

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Says nothing: the terminal has the address only."""
