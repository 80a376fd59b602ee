"""Studies on a Ray cluster, or on a private Ray on one machine; needs the extra `ray`."""

try:
    import ray as _ray  # noqa: F401  (the installed Ray, not this package)
except ModuleNotFoundError as error:
    if error.name != "ray":
        raise
    raise ModuleNotFoundError(
        "Ray is not installed: install it with pip install 'preftd[ray]'", name="ray"
    ) from None

from preftd._src.ray.executor import RayCluster

__all__ = ["RayCluster"]
