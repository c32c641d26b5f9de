"""Latencies from coordinates."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netbandit.network.geography import great_circle_km, latency_nanoseconds
from netbandit.network.topology import TopologyError

NAN = math.nan
EDGES = np.array([[0, 1], [1, 2], [2, 3]])


def distance(first, second):
    return great_circle_km(np.array([first]), np.array([second]))[0]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0.0, 0.0), (0.0, 90.0), pytest.approx(math.pi * 6371.0088 / 2)),
        ((90.0, 17.0), (0.0, -140.0), pytest.approx(math.pi * 6371.0088 / 2)),
        ((37.5, 20.0), (-37.5, -160.0), pytest.approx(math.pi * 6371.0088)),  # antipodes
        ((48.8566, 2.3522), (40.7128, -74.0060), pytest.approx(5837, abs=5)),  # Paris and New York
    ],
)
def test_known_distances(first, second, expected):
    assert distance(first, second) == expected


@given(*[st.tuples(st.floats(-90, 90), st.floats(-180, 180)) for _ in range(2)])
def test_against_vectors(first, second):
    def on_the_sphere(place):
        latitude, longitude = map(math.radians, place)
        flat = math.cos(latitude)
        return np.array([flat * math.cos(longitude), flat * math.sin(longitude), math.sin(latitude)])

    a, b = on_the_sphere(first), on_the_sphere(second)
    angle = math.atan2(np.linalg.norm(np.cross(a, b)), a @ b)
    assert distance(first, second) == pytest.approx(6371.0088 * angle, abs=1e-3)


def test_two_thirds_of_light():
    coordinates = np.array([[0.0, 0.0], [0.0, 1.0]])
    expected = math.radians(1) * 6371.0088 / (299_792.458 * 2 / 3) * 1e9
    latencies = latency_nanoseconds(coordinates, np.array([[0, 1]]))
    assert latencies.dtype == np.int64
    assert latencies.tolist() == [round(expected)]


def test_one_place_is_no_distance():
    coordinates = np.array([[52.0, 4.0], [52.0, 4.0]])
    assert latency_nanoseconds(coordinates, np.array([[0, 1]])).tolist() == [0]


def test_nodes_without_coordinates_are_named():
    coordinates = np.array([[0.0, 0.0], [0.0, 1.0], [NAN, NAN], [0.0, 3.0], [NAN, NAN]])
    with pytest.raises(TopologyError) as caught:
        latency_nanoseconds(coordinates, EDGES, names=["A", "B", "C", "D", "E"])
    assert caught.value.problems == [((), "1 linked node has no coordinates: 2 (C)")]


def test_many_nodes_without_coordinates_are_counted():
    coordinates = np.full((10, 2), NAN)
    coordinates[:2] = 0.0
    edges = np.array([[0, node] for node in range(1, 10)])
    with pytest.raises(TopologyError, match="8 linked nodes have no coordinates: 2, 3, 4, 5, 6 and 3 more"):
        latency_nanoseconds(coordinates, edges)


def test_missing_ones_get_the_median():
    coordinates = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 3.0], [NAN, NAN]])
    latencies = latency_nanoseconds(coordinates, EDGES, missing="median")
    assert latencies[2] == pytest.approx((latencies[0] + latencies[1]) / 2, abs=1)


@pytest.mark.parametrize("missing", ["error", "median"])
@pytest.mark.parametrize("coordinates", [None, np.array([[0.0, 0.0], [NAN, NAN], [1.0, 1.0], [NAN, NAN]])])
def test_without_a_single_length_there_is_no_latency(coordinates, missing):
    with pytest.raises(TopologyError, match="coordinates"):
        latency_nanoseconds(coordinates, EDGES, missing=missing)


def test_no_links():
    assert latency_nanoseconds(None, np.empty((0, 2), dtype=np.int64)).tolist() == []
