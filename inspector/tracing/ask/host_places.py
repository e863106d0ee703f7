"""Calls that no line of Python made get the line of the host whose call of Python led to them."""

# SPDX-License-Identifier: MIT
from dataclasses import replace

import numpy as np

from inspector.facts.conversion import Site
from inspector.facts.hosted import HostSite
from inspector.facts.unknown import Unknown
from inspector.tracing.ask.nesting import TOP, parents
from inspector.tracing.events.decode import CALL_KINDS, FLAGS, Events, Rows
from inspector.tracing.events.native_frames import stacks_of

_OF_A_HOST = Unknown("it is a line of the host's")


def in_host_lines(events: Events) -> Events:
    """The events, with a site for each call without one inside a call of a host whose line is known."""
    known = {number: one for number, one in events.host_sites.items() if isinstance(one, HostSite)}
    if not events.hosts or not known:
        return events
    heads = np.flatnonzero((events.records["flags"] & FLAGS["CONTINUATION"]) == 0)
    numbers = _around(stacks_of(events, heads), parents(events, heads), known)
    is_nowhere = np.array([isinstance(one.line, Unknown) for one in events.sites])
    is_call = np.isin(events.records["kind"][heads], CALL_KINDS)
    lost = is_call & is_nowhere[events.site[heads]] & (numbers != 0)
    places = {one: at for at, one in enumerate(dict.fromkeys(known.values()), len(events.sites))}
    at_number = {number: places[one] for number, one in known.items()}
    site = events.site.copy()
    site[heads[lost]] = [at_number[int(number)] for number in numbers[lost]]
    return replace(events, sites=(*events.sites, *map(_site, places)), site=site)


def _around(numbers: Rows, parent: Rows, known: dict[int, HostSite]) -> Rows:
    """For each head the number of the nearest known stack around it, or 0."""
    own = np.isin(numbers, list(known))
    at = np.where(own, np.arange(len(numbers)), parent)
    while (climbing := (at != TOP) & ~own[at]).any():
        at[climbing] = parent[at[climbing]]
    found: Rows = np.where(at == TOP, 0, numbers[at])
    return found


def _site(one: HostSite) -> Site:
    return Site(one.file, one.line, _OF_A_HOST, _OF_A_HOST, one.text)
