"""A self-signed certificate, as servers of a test have one."""

from __future__ import annotations

import ssl
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


def context(protocol: str) -> ssl.SSLContext:
    """The context of a server that speaks one protocol of ALPN: `h2` or `http/1.1`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=9))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("server")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.set_alpn_protocols([protocol])
    with tempfile.NamedTemporaryFile() as file:
        Path(file.name).write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
        made.load_cert_chain(file.name)
    return made
