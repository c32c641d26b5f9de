"""The compiled execution of hops: rows of arrays, a calendar, and what the texts of hops come to on them."""
