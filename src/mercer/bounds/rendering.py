"""Certificates and risks as text: one readable table."""

from __future__ import annotations

from typing import Any

from mercer.bounds.certificate import POPULATIONS, Certificate


def certificate_table(certificate: Certificate) -> str:
    """The table that `print(certificate)` shows."""
    confidence = f"{100 * (1 - certificate.delta):g} %"
    sure = "" if certificate.kind == "all pairs" else f", confidence {confidence}"
    lines = [
        f"Certificate of {certificate.subject}",
        f"{certificate.measured}: {certificate.n_pairs:,} pairs of {certificate.n_rows:,} rows, "
        f"for {POPULATIONS[certificate.kind]}{sure}",
        "",
        f"  {'':<14}{'observed':>12}{'at most':>12}",
    ]
    lines += [table_row(f"{100 * q:g} % of pairs", seen, most) for q, seen, most in certificate.quantile_table()]
    lines += [
        table_row("largest", certificate.max) + f"  exceeded by at most {percent(certificate.exceedance)} of pairs",
        table_row("rms", certificate.rms),
        table_row("mean", certificate.mean),
    ]
    if certificate.pointwise is not None:
        lines.append(table_row("pointwise", None, float(certificate.pointwise.max())) + "  for certain")
    if certificate.spectral_norm is not None:
        lines.append(
            table_row("||K - ZZ'||_2", certificate.spectral_norm)
            + f"  on {certificate.spectral_rows:,} rows; ridge fits differ by at most this / alpha, relative to ||y||"
        )
    return "\n".join(lines)


def table_row(name: str, *values: float | None) -> str:
    """A line of the table; None leaves a cell empty."""
    return f"  {name:<14}" + "".join(f"{'-' if value is None else format(value, '.3g'):>12}" for value in values)


def percent(fraction: float) -> str:
    """A fraction as a percentage with two digits."""
    return f"{100 * fraction:.2g} %"


def risk_table(risk: Any) -> str:
    """The table that `print(hashing_risk(...))` shows."""
    lines = [
        f"Hashing into {risk.n_components:,} columns, {risk.nonzeros} nonzero(s) per feature: "
        + ("safe" if risk.safe else "NOT PROVEN SAFE"),
        f"squared lengths of {risk.n_vectors:,} vectors to within {percent(risk.eps)}, each with probability "
        f"{100 * (1 - risk.delta):g} %",
        "",
        table_row("failure", risk.failure)
        + f"  largest bound; {percent(risk.fraction_at_risk)} of vectors above delta",
        table_row("relative sd", risk.relative_sd) + "  of a squared length, for any number of nonzeros",
        table_row("kurtosis", risk.kurtosis) + "  3 is normal; more means rare but gross errors",
        table_row("norm ratio", risk.norm_ratio) + f"  largest max|v|/||v||; up to about {risk.threshold:.2g} is safe",
        table_row("collisions", risk.colliding_pairs) + "  expected collisions of two entries of a vector",
    ]
    if not risk.safe:
        where = (
            "" if risk.recommended_components == risk.n_components else f", columns = {risk.recommended_components:,}"
        )
        lines.append(f"safe from: nonzeros = {risk.recommended_nonzeros}{where}")
    return "\n".join(lines)
