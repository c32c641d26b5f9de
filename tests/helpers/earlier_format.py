"""A results folder as it was written before runs had checksums and a folder of their own."""

import json

from netbandit.results.safe_files import unsealed


def as_format_1(out):
    """Turn the results folder *out*, as it is written today, into one of format 1."""
    for result in sorted(out.glob("runs/*/result.json")):
        whole = unsealed(result.read_bytes())
        sizes = {name: (result.parent / name).stat().st_size for name in whole.pop("checksums")}
        result.write_text(json.dumps(whole | {"format": 1, "sizes": sizes}, ensure_ascii=False) + "\n")
        result.parent.rename(out / result.parent.name)
    (out / "runs").rmdir()
    study = unsealed((out / "study.json").read_bytes()) | {"format": 1}
    (out / "study.json").write_text(json.dumps(study, ensure_ascii=False) + "\n")
