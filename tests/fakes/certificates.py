"""Certificates as old EKS clusters have them: without key identifiers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate with its key."""

    made: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def write(self, path: Path) -> str:
        """A PEM file with both, its path."""
        private = self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(private + self.made.public_bytes(Encoding.PEM))
        return str(path)


def authority(name: str, signed_by: Certificate | None = None) -> Certificate:
    """A CA; a root where nobody else signs it."""
    return _issued(name, signed_by, x509.BasicConstraints(ca=True, path_length=None))


def loopback(signed_by: Certificate) -> Certificate:
    """The certificate of a server at 127.0.0.1."""
    return _issued("server", signed_by, x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]))


def _issued(name: str, signed_by: Certificate | None, extension: x509.ExtensionType) -> Certificate:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(
        issuer_name=subject if signed_by is None else signed_by.made.subject,
        subject_name=subject,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(days=1),
        not_valid_after=now + timedelta(days=1),
    )
    signer = key if signed_by is None else signed_by.key
    critical = isinstance(extension, x509.BasicConstraints)
    return Certificate(made=builder.add_extension(extension, critical=critical).sign(signer, hashes.SHA256()), key=key)
