"""The files of a Harbor task that are text with a few places to fill."""

TASK = """schema_version = "1.4"
artifacts = ["/app/submission"]

[task]
name = "cosmolabe/{name}"
version = "1.0.0"
description = "Improve a base world model ({model}) of the game {game}."
keywords = ["world models", "research", "{game}", "{model}"]

[metadata]
game = "{game}"
model = "{model}"
protocol = "{protocol}"
held_out = "{held_out}"
starter_val = {starter_val}

[agent]
timeout_sec = {budget:.1f}
user = "agent"
{agent_network}

[verifier]
timeout_sec = {verifier_seconds:.1f}
environment_mode = "separate"
network_mode = "no-network"
user = "root"

[environment]
network_mode = "{network}"
{hosts}build_timeout_sec = 1800.0
cpus = {cpus}
memory_mb = {memory}
storage_mb = 20480
workdir = "/app"
"""

INSTRUCTION = """# Improve a world model

Game: **{game}** ({num_slots} entity slots, {fps:g} ticks a second) · base model: **{model}**

A world model sees 8 true states of the game and all actions, and imagines the next 20 states. In
`/app` lies one that works, `train.py`, with {budget} to make it better.

## What counts

For each window, h steps out:

    c_h   = 0.9 · max(0, 1 − L1) + 0.1 · F1(alive)
    score = 0.1 · c_1 + 0.2 · c_10 + 0.7 · c_20

L1 is |dx| + |dy| in shares of the world (the short way where an axis wraps), the mean over entities
that can move and are alive in truth. `/app/submission` is scored once, elsewhere, on games nobody
here has seen: `train.py`, `config.json` and `weights.safetensors`, and nothing else in it. It holds
the trained starter now.

## How

    cd /app && python run.py --note "what I changed and why"   # trains, scores on val
    cd /app && python run.py --submit 003                      # choose; else the best on val

An experiment trains `train.py` with `config.json` for at most {per_run:g} s in `experiments/ID`,
which keeps code, config, log and score; `experiments/summary.tsv` lists them. It is called with
a folder, the data, a seed and the limit, and must leave `weights.safetensors` in the folder.
`MODEL.load(folder, manifest)` of the same file must make the model again, for that is how it is
scored. `data/` holds the episodes of train and val; `package/` is what `train.py` may import.

Run the starter unchanged first, twice with other seeds (`--seed 1`): two runs that differ in the
seed alone tell you which differences mean anything.
"""

AGENT_IMAGE = """ARG BASE={image}
FROM ${{BASE}}
RUN useradd --create-home agent
COPY requirements.txt /tmp/requirements.txt
RUN pip install --no-cache-dir --requirement /tmp/requirements.txt
WORKDIR /app
COPY app /app
RUN chown -R agent:agent /app
ENV OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
"""

VERIFIER_IMAGE = """ARG BASE={image}
FROM ${{BASE}}
COPY requirements.txt /tmp/requirements.txt
RUN pip install --no-cache-dir --requirement /tmp/requirements.txt
COPY . /tests
RUN chmod -R go-rwx /tests/held_out
ENV OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
"""

TEST = """#!/bin/sh
# Writes /logs/verifier/reward.json, or nothing where there is no score: no fallback.
set -eu
exec python -B /tests/verify.py /app/submission /logs/verifier
"""

SOLVE = """#!/bin/sh
# {what}
set -eu
cp /solution/submission/* /app/submission/
"""
