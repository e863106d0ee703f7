"""The published JSON Schema is the one the facts make."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.facts.schema import report_schema
from inspector.facts.wire import SCHEMA

pytestmark = pytest.mark.quick

PUBLISHED = Path(__file__).parents[2] / "docs" / "schema" / f"report-{SCHEMA}.json"


def test_the_published_schema_is_up_to_date() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == report_schema(), (
        "run: python -m inspector.facts.schema > docs/schema/report-2.json"
    )
