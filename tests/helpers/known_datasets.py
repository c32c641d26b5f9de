"""Small made-up files in the form of data sets that papers use, for the pages that read them."""

import numpy as np
import pandas

MODELS = ("mistralai/mistral-7b-chat", "gpt-4-1106-preview")


def write(folder):
    """Write RouterBench's pickle, two files of LastFM (HetRec 2011) and MovieLens 100K's ratings."""
    rng = np.random.default_rng(0)
    words = ["write", "a", "program", "that", "sorts", "say", "which", "city", "is", "large", "solve", "this", "sum"]
    prompts = [" ".join(rng.choice(words, 6)) for _ in range(60)]
    answers = {model: rng.integers(2, size=60).astype(float) for model in MODELS}
    costs = {f"{model}|total_cost": rng.random(60) / 1000 for model in MODELS}
    texts = {f"{model}|model_response": prompts for model in MODELS}
    router = {"sample_id": range(60), "prompt": prompts, "eval_name": "mbpp", **answers, **texts, **costs}
    pandas.DataFrame(router).to_pickle(folder / "routerbench_0shot.pkl")
    pairs = pandas.DataFrame({"userID": rng.integers(2, 14, 90), "artistID": rng.integers(1, 30, 90)}).drop_duplicates()
    plays = pairs.assign(weight=rng.integers(1, 999, len(pairs)))
    plays.to_csv(folder / "user_artists.dat", sep="\t", index=False)
    tags = pairs.assign(tagID=rng.integers(1, 12, len(pairs)), day=1, month=4, year=2009)
    tags.to_csv(folder / "user_taggedartists.dat", sep="\t", index=False)
    rated = pandas.DataFrame({"user": rng.integers(1, 20, 200), "item": rng.integers(1, 16, 200)}).drop_duplicates()
    rated = rated.assign(rating=rng.integers(1, 6, len(rated)), time=881250949)
    rated.to_csv(folder / "u.data", sep="\t", index=False, header=False)
