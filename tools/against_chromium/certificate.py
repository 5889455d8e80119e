"""A self-signed certificate, as servers of a test have one."""

from __future__ import annotations

import base64
import hashlib
import ssl
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

if TYPE_CHECKING:
    from pathlib import Path


def write(file: Path) -> str:
    """Writes a certificate and its key.

    Returns:
        The SHA-256 of its public key in base64, by which Chromium accepts it (`SPKI` in its options).
    """
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
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + private)
    public = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(hashlib.sha256(public).digest()).decode("ascii")


def context(file: Path, protocol: str) -> ssl.SSLContext:
    """The context of a server with that certificate, for one protocol of ALPN: `h2` or `http/1.1`."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.set_alpn_protocols([protocol])
    made.load_cert_chain(file)
    return made
