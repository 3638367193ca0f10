# ruff: noqa: E501
"""Edits of the transformer's own train.py, written after the rules and counted on them once."""

EDITS = [
    (
        "swiglu",
        "architecture",
        False,
        "transformer",
        [
            (
                "            nn.GELU(),\n            nn.Linear(size.expansion * width, width),\n",
                "            nn.SiLU(),\n            nn.LayerNorm(size.expansion * width),\n            nn.Linear(size.expansion * width, width),\n",
            ),
        ],
        {},
    ),
    (
        "memory of each entity",
        "architecture",
        False,
        "transformer",
        [
            (
                "        self.last_norm = nn.LayerNorm(width)\n",
                "        self.last_norm = nn.LayerNorm(width)\n        self.recur = nn.GRUCell(width, width)\n",
            ),
            (
                "        tokens = self.last_norm(tokens)\n",
                "        flat = tokens.flatten(0, 2)\n        tokens = self.last_norm(self.recur(flat, flat).view_as(tokens))\n",
            ),
        ],
        {},
    ),
    (
        "attention also over what moves alike",
        "architecture",
        False,
        "transformer",
        [
            (
                "        here = here - distance[:, :, :, None] * cost + hidden[:, :, :, None]\n",
                "        near = (-distance[:, :, :, None] / 0.1).exp()\n        here = here - distance[:, :, :, None] * cost + near + hidden[:, :, :, None]\n",
            ),
        ],
        {},
    ),
    (
        "squared gap",
        "objective",
        False,
        "transformer",
        [
            (
                "        gap = self.miss(likely, truth[..., :2], batch)\n",
                "        gap = self.miss(likely, truth[..., :2], batch)\n        gap = gap + 0.5 * gap.square() / self.reach\n",
            ),
        ],
        {},
    ),
    (
        "later frames weigh more",
        "objective",
        False,
        "transformer",
        [
            (
                '            "positions": (gap * self.concern(batch, alive)).sum(-1).mean() / self.reach,\n',
                '            "positions": (gap * self.concern(batch, alive) * torch.linspace(0.5, 1.5, gap.shape[1])[:, None]).sum(-1).mean() / self.reach,\n',
            ),
        ],
        {},
    ),
    (
        "growth by squares",
        "rollout",
        False,
        "transformer",
        [
            (
                "    return config.first_unroll + int(grown * (config.unroll - config.first_unroll))\n",
                "    return config.first_unroll + int(grown**2 * (config.unroll - config.first_unroll))\n",
            ),
        ],
        {},
    ),
    (
        "cut gradients",
        "rollout",
        False,
        "transformer",
        [
            (
                "            story.append((likely if step == 0 else last, states, numbers))\n",
                "            story.append((likely if step == 0 else last, states, numbers))\n            if step % 8 == 7:\n                states, numbers = states.detach(), numbers.detach()\n",
            ),
        ],
        {},
    ),
    (
        "now and then the truth",
        "rollout",
        False,
        "transformer",
        [
            (
                "            action = batch.actions[:, seen + step : seen + step + 1]\n",
                "            if self.training and torch.rand(()) < 0.2:\n                states = batch.states[:, seen + step : seen + step + 1]\n            action = batch.actions[:, seen + step : seen + step + 1]\n",
            ),
        ],
        {},
    ),
    (
        "more waves of places",
        "state",
        False,
        "transformer",
        [
            (
                "        features = [2 * place - 1, alive, waves.sin(), waves.cos(), moves]\n",
                "        edges = torch.minimum(place, 1 - place)\n        features = [2 * place - 1, edges, alive, waves.sin(), waves.cos(), moves]\n",
            ),
            ("        num_state = 3 + 4", "        num_state = 5 + 4"),
        ],
        {},
    ),
    (
        "targets as jumps on a grid",
        "state",
        False,
        "transformer",
        [
            (
                "    moved = states[..., :2] + states[..., VX : VX + 2] * (1 + gain) + push * network.speed\n",
                "    moved = states[..., :2] + (states[..., VX : VX + 2] * (1 + gain) / network.speed + push).round() * network.speed\n",
            ),
        ],
        {},
    ),
    (
        "positions kept on the screen",
        "inference",
        False,
        "transformer",
        [
            (
                "            row[..., ALIVE] = likely.alive[:, -1].sigmoid()\n",
                "            row[..., ALIVE] = likely.alive[:, -1].sigmoid()\n            row[..., :2] = row[..., :2].clamp(0.0, 1.0)\n",
            ),
        ],
        {},
    ),
    (
        "mean of mirrored stories",
        "inference",
        False,
        "transformer",
        [
            (
                "                found = self._imagine(context_batch(part), context.window, horizon, cached)\n",
                "                found = self._imagine(context_batch(part), context.window, horizon, cached)\n                again = self._imagine(context_batch(part), context.window, horizon, False)\n                found = tuple((a + b) / 2 for a, b in zip(found, again, strict=True))\n",
            ),
        ],
        {},
    ),
    (
        "noise that shrinks",
        "augmentation",
        False,
        "transformer",
        [
            (
                "            seen += torch.randn(seen.shape, generator=dice) * self.config.noise\n",
                "            seen += torch.randn(seen.shape, generator=dice) * self.config.noise / (1 + self.step / 500)\n",
            ),
        ],
        {},
    ),
    (
        "actions dropped",
        "augmentation",
        False,
        "transformer",
        [
            (
                "        batch = first_frames(training_batch(next(batches)), frames)\n",
                "        batch = first_frames(training_batch(next(batches)), frames)\n        batch.actions.mul_((torch.rand(len(batch), 1, 1) > 0.05).float())\n",
            ),
        ],
        {},
    ),
    (
        "flat, then down",
        "schedule",
        False,
        "transformer",
        [
            (
                "    return config.rate * warm * (LOWEST + (1 - LOWEST) * (1 + math.cos(math.pi * share)) / 2)\n",
                "    return config.rate * warm * min(1.0, 4 * (1 - share) + LOWEST)\n",
            ),
        ],
        {},
    ),
    (
        "two rates",
        "schedule",
        False,
        "transformer",
        [
            (
                "            self.weights,\n            lr=config.rate,\n",
                '            [{"params": self.weights[:8]}, {"params": self.weights[8:], "weight_decay": 0.0}],\n            lr=config.rate,\n',
            ),
        ],
        {},
    ),
    (
        "numbers of the recipe",
        "hyper",
        False,
        "transformer",
        [("WAVES = (1, 2, 4, 8)", "WAVES = (1, 2, 4, 16)")],
        {"recipe": {"rate": 0.004}},
    ),
    (
        "own lag too",
        "bugfix",
        False,
        "transformer",
        [
            (
                "        seen = (lag >= 1) & (lag < WINDOW)\n",
                "        seen = (lag >= 0) & (lag < WINDOW)\n",
            )
        ],
        {},
    ),
    (
        "the other shift",
        "bugfix",
        False,
        "transformer",
        [
            (
                "        return tokens, (all_keys[:, 1 - WINDOW :], all_values[:, 1 - WINDOW :])\n",
                "        return tokens, (all_keys[:, -WINDOW:], all_values[:, -WINDOW:])\n",
            )
        ],
        {},
    ),
    (
        "walls by hand",
        "architecture",
        True,
        "transformer",
        [
            (
                "    return Likely(\n        positions=moved + leap * (spot + 0.5 - moved),\n",
                "    speed = states[..., VX : VX + 2]\n    speed = torch.where((moved < 0.04) | (moved > 0.96), -speed, speed)\n    moved = states[..., :2] + speed\n    return Likely(\n        positions=moved + leap * (spot + 0.5 - moved),\n",
            ),
        ],
        {},
    ),
]
