# ruff: noqa: E501
"""Edits with their class, written before the rules and not looked at while rules were made."""

EDITS = [
    (
        "messages between pairs",
        "architecture",
        False,
        "continuous",
        [
            (
                "class Network(nn.Module):\n",
                "class Pairs(nn.Module):\n"
                "    def __init__(self, width):\n"
                "        super().__init__()\n"
                "        self.say = nn.Linear(2 * width, width)\n\n"
                "    def forward(self, tokens):\n"
                "        one, two = tokens[:, :, None], tokens[:, None]\n"
                "        both = torch.cat(torch.broadcast_tensors(one, two), -1)\n"
                "        return tokens + self.say(both).relu().amax(2)\n\n\n"
                "class Network(nn.Module):\n",
            ),
            (
                "        self.entity_out = nn.Linear(WIDTH, 3 + 14)\n",
                "        self.pairs = Pairs(WIDTH)\n"
                "        self.entity_out = nn.Linear(WIDTH, 3 + 14)\n",
            ),
            (
                "        entity = self.entity_out(tokens)\n",
                "        tokens = self.pairs(tokens)\n        entity = self.entity_out(tokens)\n",
            ),
        ],
        {},
    ),
    (
        "convolution over time",
        "architecture",
        False,
        "discrete",
        [
            (
                "        self.alive = nn.Linear(width, 1)\n",
                "        self.alive = nn.Linear(width, 1)\n"
                "        self.past = nn.Conv1d(num_context, width, 3, padding=1)\n",
            ),
            (
                "        tokens = self.encoder(tokens)\n",
                "        past = self.past(context.transpose(1, 2)).transpose(1, 2)\n"
                "        tokens = self.encoder(tokens + past)\n",
            ),
        ],
        {},
    ),
    (
        "pooled by attention",
        "architecture",
        False,
        "continuous",
        [
            (
                "        frame = self.frame_out(tokens.mean(1))\n",
                "        chance = self.ask(tokens).softmax(1)\n"
                "        frame = self.frame_out((chance * tokens).sum(1))\n",
            ),
            (
                "        self.frame_out = nn.Linear(WIDTH, num_globals + 1)\n",
                "        self.frame_out = nn.Linear(WIDTH, num_globals + 1)\n"
                "        self.ask = nn.Linear(WIDTH, 1)\n",
            ),
        ],
        {},
    ),
    (
        "weights by steps, squared",
        "objective",
        False,
        "continuous",
        [
            (
                "            place_loss = (miss * living).sum() / living.sum().clamp(min=1)\n",
                "            place_loss = (miss.square() * living).sum() / living.sum().clamp(min=1)\n"
                "            place_loss = place_loss.sqrt()\n",
            ),
        ],
        {},
    ),
    (
        "globals as cross entropy",
        "objective",
        False,
        "continuous",
        [
            (
                "            globals_loss = F.smooth_l1_loss(numbers, batch.globals[:, seen + step])\n",
                "            target = batch.globals[:, seen + step]\n"
                "            globals_loss = F.mse_loss(numbers.sign() * numbers.abs().log1p(),\n"
                "                                      target.sign() * target.abs().log1p())\n",
            ),
        ],
        {},
    ),
    (
        "the dead cost nothing",
        "objective",
        False,
        "discrete",
        [
            (
                "        miss = (miss.view(words.shape) * hidden).sum() / hidden.sum().clamp(min=1)\n",
                "        hidden = hidden & (batch.states[:, -1, :, 2:3] > 0.5)\n"
                "        miss = (miss.view(words.shape) * hidden).sum() / hidden.sum().clamp(min=1)\n",
            ),
        ],
        {},
    ),
    (
        "two-stage training",
        "rollout",
        False,
        "continuous",
        [
            (
                '        loss = network.loss(batch, config["seen"], config["unroll"])\n',
                '        steps = 1 if step < 0.4 * config["steps"] else config["unroll"]\n'
                '        loss = network.loss(batch, config["seen"], steps)\n',
            ),
        ],
        {},
    ),
    (
        "own predictions as context",
        "rollout",
        False,
        "continuous",
        [
            (
                "        states, numbers = batch.states[:, seen - 1], batch.globals[:, seen - 1]\n",
                "        start = seen - 1\n"
                "        if self.training:\n"
                "            start = int(torch.randint(0, seen, ()))\n"
                "        states, numbers = batch.states[:, start], batch.globals[:, start]\n",
            ),
        ],
        {},
    ),
    (
        "polar speeds",
        "state",
        False,
        "continuous",
        [
            (
                "    return torch.cat([states, registry], -1)\n",
                "    speed = states[..., 3:5].norm(dim=-1, keepdim=True)\n"
                "    heading = torch.atan2(states[..., 4:5], states[..., 3:4])\n"
                "    return torch.cat([states, speed, heading.sin(), heading.cos(), registry], -1)\n",
            ),
        ],
        {},
    ),
    (
        "words of change",
        "state",
        False,
        "discrete",
        [
            (
                'def encode(states):\n    """Positions as bins."""\n'
                "    return (states[..., :2].clamp(0, 1) * (BINS - 1)).round().long()\n",
                'def encode(states):\n    """Positions as bins of their change."""\n'
                "    change = states[..., 3:5] / 0.05\n"
                "    return ((0.5 + 0.5 * change).clamp(0, 1) * (BINS - 1)).round().long()\n",
            ),
        ],
        {},
    ),
    (
        "distance to the walls",
        "state",
        False,
        "continuous",
        [
            (
                "    return torch.cat([states, registry], -1)\n",
                "    walls = torch.minimum(states[..., :2], 1 - states[..., :2])\n"
                "    return torch.cat([states, walls, registry], -1)\n",
            ),
        ],
        {},
    ),
    (
        "snapped to the grid at the end",
        "inference",
        False,
        "continuous",
        [
            (
                "    numbers = torch.stack([g for",
                "    states[..., :2] = (states[..., :2] * 20).round() / 20\n"
                "    numbers = torch.stack([g for",
            ),
        ],
        {},
    ),
    (
        "top-k words",
        "inference",
        False,
        "discrete",
        [
            (
                "            drawn = torch.distributions.Categorical(chance).sample()\n",
                "            best = chance.topk(5, -1)\n"
                "            pick = torch.distributions.Categorical(best.values).sample()\n"
                "            drawn = best.indices.gather(-1, pick[..., None])[..., 0]\n",
            ),
        ],
        {},
    ),
    (
        "ensemble of two passes",
        "inference",
        False,
        "continuous",
        [
            (
                "    story = network.unroll(context, context.frames, horizon)\n",
                "    story = network.unroll(context, context.frames, horizon)\n"
                "    again = network.unroll(context.flipped(), context.frames, horizon)\n"
                "    story = [tuple((a + b) / 2 for a, b in zip(x, y)) for x, y in zip(story, again)]\n",
            ),
        ],
        {},
    ),
    (
        "slots shuffled",
        "augmentation",
        False,
        "continuous",
        [
            (
                "        batch = next(batches)\n",
                "        batch = next(batches)\n"
                "        order = torch.randperm(batch.states.shape[2])\n"
                "        batch.states, batch.registry = batch.states[:, :, order], "
                "batch.registry[:, order]\n",
            ),
        ],
        {},
    ),
    (
        "fields dropped at random",
        "augmentation",
        False,
        "continuous",
        [
            (
                "        batch = next(batches)\n",
                "        batch = next(batches)\n"
                "        keep = (torch.rand(batch.states.shape[:-1]) > 0.1)[..., None]\n"
                "        batch.states[..., 5:19] = batch.states[..., 5:19] * keep\n",
            ),
        ],
        {},
    ),
    (
        "warm-up and cosine",
        "schedule",
        False,
        "discrete",
        [
            (
                "        optimizer.step()\n    return network\n",
                "        optimizer.step()\n        ease.step()\n    return network\n",
            ),
            (
                "    for step, batch in enumerate",
                "    ease = torch.optim.lr_scheduler.OneCycleLR(\n"
                '        optimizer, config["rate"], total_steps=config["steps"]\n    )\n'
                "    for step, batch in enumerate",
            ),
        ],
        {},
    ),
    (
        "gradients of four batches",
        "schedule",
        False,
        "continuous",
        [
            (
                "        optimizer.zero_grad()\n        loss.backward()\n",
                "        (loss / 4).backward()\n        if step % 4 != 3:\n            continue\n",
            ),
            (
                "        optimizer.step()\n    return network\n",
                "        optimizer.step()\n        optimizer.zero_grad()\n    return network\n",
            ),
        ],
        {},
    ),
    (
        "bins and dropout",
        "hyper",
        False,
        "discrete",
        [("BINS = 128", "BINS = 256")],
        {"dropout": 0.2},
    ),
    (
        "heads",
        "hyper",
        False,
        "continuous",
        [("HEADS = 4", "HEADS = 8"), ("range(2)", "range(4)")],
        {"batch_size": 64},
    ),
    (
        "scale of the step",
        "hyper",
        False,
        "continuous",
        [("+ 0.01 * entity", "+ 0.02 * entity")],
        {},
    ),
    (
        "wraps in the loss's way",
        "bugfix",
        False,
        "continuous",
        [
            (
                "            miss = (positions - truth[..., :2]).abs().sum(-1)\n",
                "            miss = wrapped(positions - truth[..., :2], batch.wrap).abs().sum(-1)\n",
            ),
        ],
        {},
    ),
    (
        "evaluated in eval mode",
        "bugfix",
        False,
        "discrete",
        [
            (
                "    dice = torch.Generator().manual_seed(seed)\n    frames, living = [], []\n",
                "    network.eval()\n"
                "    dice = torch.Generator().manual_seed(seed)\n    frames, living = [], []\n",
            ),
        ],
        {},
    ),
    (
        "the sign of a delta",
        "bugfix",
        False,
        "continuous",
        [
            (
                "    delta = wrapped(positions - last[..., :2], wrap) * alive\n",
                "    delta = wrapped(last[..., :2] - positions, wrap) * alive\n",
            ),
        ],
        {},
    ),
    (
        "other words for the same",
        "none",
        False,
        "discrete",
        [
            ("        for turn in range(ROUNDS):\n", "        for iteration in range(ROUNDS):\n"),
            ("(turn + 1)", "(iteration + 1)"),
            ('"""Fill in hidden words, the surest first."""', '"""Iterative decoding."""'),
        ],
        {},
    ),
    (
        "walls by hand",
        "architecture",
        True,
        "continuous",
        [
            (
                "        return positions, entity[..., 2], entity[..., 3:], numbers + frame[..., :-1], "
                "frame[..., -1]\n",
                "        speed = states[..., 3:5]\n"
                "        there = states[..., :2] + speed\n"
                "        low, high = there < 0.05, there > 0.95\n"
                "        speed = torch.where(low | high, -0.9 * speed, speed)\n"
                "        falling = states[..., 1] < 0.8\n"
                "        speed = speed + torch.where(falling, 0.0004, 0.0)[..., None]\n"
                "        positions = (states[..., :2] + speed).clamp(0.02, 0.98)\n"
                "        return positions, entity[..., 2], entity[..., 3:], numbers + frame[..., :-1], "
                "frame[..., -1]\n",
            ),
        ],
        {},
    ),
]
