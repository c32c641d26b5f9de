"""Parquet files."""

from netbandit.util.extras import of_extra

with of_extra("parquet"):
    from pyarrow import Table, types
    from pyarrow.parquet import ParquetFile, write_table

__all__ = ["ParquetFile", "Table", "types", "write_table"]
