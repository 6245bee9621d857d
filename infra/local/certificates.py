"""A certificate authority of one hour for servers on this machine's loopback, and a server's certificate by it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What a server on 127.0.0.1 presents, and the PEM by which clients know it."""

    server: ssl.SSLContext
    authority_pem: bytes


def loopback_trust() -> Trust:
    """Made anew each time; the keys leave the process only for the moment in which OpenSSL reads them."""
    authority_key, server_key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = _issued("loopback", authority_key, "loopback", authority_key, x509.BasicConstraints(True, None))
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    server = _issued("127.0.0.1", server_key, "loopback", authority_key, address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "server.pem"
        private = server_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(private + server.public_bytes(Encoding.PEM))
        context.load_cert_chain(path)
    return Trust(server=context, authority_pem=authority.public_bytes(Encoding.PEM))


def _issued(name: str, key: Key, issuer: str, signer: Key, extension: x509.ExtensionType) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer_name=_name(issuer),
        subject_name=_name(name),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(minutes=5),
        not_valid_after=now + timedelta(hours=1),
    )
    is_critical = isinstance(extension, x509.BasicConstraints)
    return builder.add_extension(extension, critical=is_critical).sign(signer, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
