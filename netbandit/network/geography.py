"""Link latencies from coordinates: great-circle distance over the speed of light in fibre."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from netbandit.network.topology import TopologyError

EARTH_RADIUS_KM = 6371.0088
"""The mean radius of the WGS84 ellipsoid (IUGG)."""

LIGHT_KM_PER_S = 299_792.458
"""The speed of light in vacuum."""

FIBRE = 2 / 3
"""The speed of light in glass, as a part of that in vacuum."""

NAMED = 5
"""How many of the nodes without coordinates an error names."""


def great_circle_km(from_places: NDArray[np.float64], to_places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the great-circle distances in km between places, both shape (k, 2): latitude and longitude in degrees.

    The haversine formula on a sphere of the earth's mean radius; NaN where a coordinate is.
    """
    latitude, longitude = np.radians(from_places).T
    other_latitude, other_longitude = np.radians(to_places).T
    haversine = (
        np.sin((other_latitude - latitude) / 2) ** 2
        + np.cos(latitude) * np.cos(other_latitude) * np.sin((other_longitude - longitude) / 2) ** 2
    )
    # Between antipodes rounding may lift it above 1.
    distance: NDArray[np.float64] = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(haversine, 1.0)))
    return distance


def latency_nanoseconds(
    coordinates: NDArray[np.float64] | None,
    edges: NDArray[np.int64],
    missing: Literal["error", "median"] = "error",
    names: Sequence[str] | None = None,
) -> NDArray[np.int64]:
    """Return the latency of each link: its great-circle length at 2/3 of the speed of light, in whole nanoseconds.

    Args:
        coordinates: Latitude and longitude of each node in degrees, shape (n, 2), NaN where unknown; None if all are.
        edges: The links, shape (L, 2).
        missing: The handling of links with an end without coordinates: "error", or "median" for the median latency of
            the links that have both.
        names: The name of each node, for the error.

    Returns:
        The latencies, shape (L,), rounded to the nearest nanosecond.

    Raises:
        TopologyError: At the empty key path, if a link has an end without coordinates and *missing* is "error", or no
            link has both ends with coordinates.
    """
    if not len(edges):
        return np.empty(0, dtype=np.int64)
    if coordinates is None:
        raise TopologyError([((), "no node of the topology has coordinates (a latitude and a longitude)")])
    kilometres = great_circle_km(coordinates[edges[:, 0]], coordinates[edges[:, 1]])
    unknown = np.isnan(kilometres)
    if unknown.all():
        raise TopologyError([((), "no link of the topology has coordinates (a latitude and a longitude) at both ends")])
    if unknown.any():
        if missing == "error":
            raise TopologyError([((), _without(coordinates, edges[unknown], names))])
        kilometres = np.where(unknown, np.median(kilometres[~unknown]), kilometres)
    return np.rint(kilometres / (FIBRE * LIGHT_KM_PER_S) * 1e9).astype(np.int64)


def _without(coordinates: NDArray[np.float64], edges: NDArray[np.int64], names: Sequence[str] | None) -> str:
    """Return a sentence that names the nodes of *edges* without coordinates."""
    ends = np.unique(edges)
    lost = ends[np.isnan(coordinates[ends]).any(axis=1)].tolist()
    listed = [str(node) if names is None or names[node] == str(node) else f"{node} ({names[node]})" for node in lost]
    more = f" and {len(listed) - NAMED} more" if len(listed) > NAMED else ""
    subject = "1 linked node has" if len(lost) == 1 else f"{len(lost)} linked nodes have"
    return f"{subject} no coordinates: {', '.join(listed[:NAMED])}{more}"
