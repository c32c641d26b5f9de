"""The networks that are shipped: whole, connected, where they should be, and with latencies of their distances."""

import re
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from netbandit.network import files
from netbandit.network.geography import latency_nanoseconds
from netbandit.network.topology import Topology

FOLDER = Path(__file__).parents[1] / "topologies"

EUROPE, NORTH_AMERICA, LATIN_AMERICA = (30, 66, -12, 41), (24, 55, -130, -60), (-56, 33, -118, -34)
NEW_YORK = "New York"


def load(file):
    return Topology(files.read(file))


@pytest.mark.parametrize(
    ("name", "nodes", "links", "diameter", "region"),
    [
        ("abilene", 11, 14, 5, NORTH_AMERICA),
        ("geant", 22, 36, 5, EUROPE),
        ("internet2", 34, 42, 9, NORTH_AMERICA),
        ("redclara", 12, 13, 7, LATIN_AMERICA),
    ],
)
def test_a_network_is_what_its_comment_says(name, nodes, links, diameter, region):
    topology = load(FOLDER / f"{name}.graphml")
    assert (topology.agents, topology.links, topology.diameter) == (nodes, links, diameter)
    assert nx.is_connected(topology.graph)
    assert len(set(topology.names)) == nodes
    south, north, west, east = region
    for city, (latitude, longitude) in zip(topology.names, topology.coordinates, strict=True):
        inside = south <= latitude <= north and west <= longitude <= east
        assert inside or (name, city) == ("geant", NEW_YORK), city
    latencies = latency_nanoseconds(topology.coordinates, topology.edges)
    assert 10**5 < latencies.min() < latencies.max() < 40 * 10**6
    comment = re.search("<!--(.*?)-->", (FOLDER / f"{name}.graphml").read_text(encoding="utf-8"), re.DOTALL)[1]
    said = " ".join(comment.split())
    assert re.search(r"\b20\d\d\b", said)
    assert f"{nodes} cities, {links} links" in said
    assert "Written for netbandit from public facts" in said


def test_every_network_is_tested_here():
    assert {file.stem for file in FOLDER.iterdir()} == {"abilene", "geant", "internet2", "redclara"}


def test_a_city_is_at_the_same_place_in_every_network():
    places = {}
    for file in sorted(FOLDER.iterdir()):
        topology = load(file)
        for city, place in zip(topology.names, topology.coordinates, strict=True):
            np.testing.assert_array_equal(places.setdefault(city, place), place, err_msg=city)
    assert {"Chicago", "Miami", NEW_YORK} <= places.keys()
