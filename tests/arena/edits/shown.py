# ruff: noqa: E501
"""Edits with their class, written before the rules: these may be looked at while rules are made.

A row: name, class, whether analytic, file it starts from, replacements, changed keys of the config.
"""

EDITS = [
    # -- architecture
    (
        "a third block",
        "architecture",
        False,
        "continuous",
        [
            (
                "        self.entity_out = nn.Linear(WIDTH, 3 + 14)\n",
                "        self.memory = nn.GRUCell(WIDTH, WIDTH)\n"
                "        self.entity_out = nn.Linear(WIDTH, 3 + 14)\n",
            ),
            (
                "        entity = self.entity_out(tokens)\n",
                "        flat = tokens.flatten(0, 1)\n"
                "        tokens = self.memory(flat, flat).view_as(tokens)\n"
                "        entity = self.entity_out(tokens)\n",
            ),
        ],
        {},
    ),
    (
        "gated perceptron",
        "architecture",
        False,
        "continuous",
        [
            (
                "        self.perceptron = nn.Sequential(\n"
                "            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), "
                "nn.Linear(2 * width, width)\n        )\n",
                "        self.gate = nn.Linear(width, 4 * width)\n"
                "        self.down = nn.Linear(2 * width, width)\n",
            ),
            (
                "        return tokens + self.perceptron(tokens)\n",
                "        gate, value = self.gate(tokens).chunk(2, -1)\n"
                "        return tokens + self.down(F.silu(gate) * value)\n",
            ),
        ],
        {},
    ),
    (
        "two separate heads",
        "architecture",
        False,
        "continuous",
        [
            (
                "        self.entity_out = nn.Linear(WIDTH, 3 + 14)\n",
                "        self.move_out = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.SiLU(), "
                "nn.Linear(WIDTH, 3))\n"
                "        self.field_out = nn.Linear(WIDTH, 14)\n",
            ),
            (
                "        entity = self.entity_out(tokens)\n",
                "        entity = torch.cat([self.move_out(tokens), self.field_out(tokens)], -1)\n",
            ),
        ],
        {},
    ),
    (
        "distance bias",
        "architecture",
        False,
        "continuous",
        [
            (
                "        self.norm = nn.LayerNorm(width)\n",
                "        self.norm = nn.LayerNorm(width)\n"
                "        self.reach = nn.Parameter(torch.zeros(heads))\n",
            ),
            (
                "        mixed, _ = self.attention(seen, seen, seen, key_padding_mask=hidden)\n",
                "        bias = -torch.cdist(seen, seen)[:, None] * F.softplus(self.reach)[:, None, None]\n"
                "        mixed, _ = self.attention(\n"
                "            seen, seen, seen, key_padding_mask=hidden, attn_mask=bias.flatten(0, 1)\n"
                "        )\n",
            ),
        ],
        {},
    ),
    (
        "embedding of slots",
        "architecture",
        False,
        "discrete",
        [
            (
                "        self.context_in = nn.Linear(num_context, width)\n",
                "        self.context_in = nn.Linear(num_context, width)\n"
                "        self.slots = nn.Embedding(64, width)\n",
            ),
            (
                "        tokens = self.encoder(tokens)\n",
                "        tokens = self.encoder(tokens + self.slots.weight[: tokens.shape[1]])\n",
            ),
        ],
        {},
    ),
    # -- objective
    (
        "huber on positions",
        "objective",
        False,
        "continuous",
        [
            (
                "            miss = (positions - truth[..., :2]).abs().sum(-1)\n",
                "            miss = F.huber_loss(\n"
                "                positions, truth[..., :2], reduction='none', delta=0.02\n"
                "            ).sum(-1)\n",
            ),
        ],
        {},
    ),
    (
        "later steps weigh more",
        "objective",
        False,
        "continuous",
        [
            (
                "            total = total + POSITION",
                "            weight = (step + 1) / len(story)\n"
                "            total = total + weight * POSITION",
            ),
        ],
        {},
    ),
    (
        "focal loss on alive",
        "objective",
        False,
        "continuous",
        [
            (
                "            alive_loss = F.binary_cross_entropy_with_logits(alive, truth[..., ALIVE])\n",
                "            each = F.binary_cross_entropy_with_logits(\n"
                "                alive, truth[..., ALIVE], reduction='none'\n"
                "            )\n"
                "            alive_loss = ((1 - (-each).exp()) ** 2 * each).mean()\n",
            ),
        ],
        {},
    ),
    (
        "loss of velocity beside",
        "objective",
        False,
        "continuous",
        [
            (
                "            alive_loss = F.binary",
                "            speed = positions - batch.states[:, seen + step - 1, :, :2]\n"
                "            speed_loss = (speed - truth[..., 3:5]).abs().mean()\n"
                "            alive_loss = F.binary",
            ),
            ("GLOBALS * globals_loss\n", "GLOBALS * globals_loss + 0.5 * speed_loss\n"),
        ],
        {},
    ),
    (
        "neighbouring bins are half right",
        "objective",
        False,
        "discrete",
        [
            (
                "        miss = F.cross_entropy(\n"
                '            logits.flatten(0, 2), words.flatten(), reduction="none", '
                "label_smoothing=SMOOTHING\n        )\n",
                "        bins = torch.arange(BINS)\n"
                "        soft = (-((bins - words[..., None]) ** 2) / 4.0).float().softmax(-1)\n"
                "        miss = -(soft * logits.log_softmax(-1)).sum(-1)\n",
            ),
        ],
        {},
    ),
    # -- rollout curriculum
    (
        "steps grow",
        "rollout",
        False,
        "continuous",
        [
            (
                '        loss = network.loss(batch, config["seen"], config["unroll"])\n',
                '        share = step / config["steps"]\n'
                '        steps = 1 + int(share * (config["unroll"] - 1))\n'
                '        loss = network.loss(batch, config["seen"], steps)\n',
            ),
        ],
        {"unroll": 20},
    ),
    (
        "scheduled sampling",
        "rollout",
        False,
        "continuous",
        [
            (
                "            states = next_state(states, predicted, batch.mutable, batch.wrap)\n",
                "            states = next_state(states, predicted, batch.mutable, batch.wrap)\n"
                "            if self.training and torch.rand(()) < self.teacher:\n"
                "                states = batch.states[:, seen + step]\n",
            ),
            (
                "        self.frame_out = nn.Linear(WIDTH, num_globals + 1)\n",
                "        self.frame_out = nn.Linear(WIDTH, num_globals + 1)\n"
                "        self.teacher = 0.3\n",
            ),
        ],
        {},
    ),
    (
        "gradient through four steps",
        "rollout",
        False,
        "continuous",
        [
            (
                "            states = next_state(states, predicted, batch.mutable, batch.wrap)\n",
                "            states = next_state(states, predicted, batch.mutable, batch.wrap)\n"
                "            if step % 4 == 3:\n"
                "                states, numbers = states.detach(), numbers.detach()\n",
            ),
        ],
        {},
    ),
    (
        "random length of rollouts",
        "rollout",
        False,
        "continuous",
        [
            (
                '        loss = network.loss(batch, config["seen"], config["unroll"])\n',
                '        horizon = int(torch.randint(2, config["unroll"] + 1, ()))\n'
                '        loss = network.loss(batch, config["seen"], horizon)\n',
            ),
        ],
        {},
    ),
    (
        "second frame from its own words",
        "rollout",
        False,
        "discrete",
        [
            (
                "        loss = network.loss(batch, dice)\n",
                "        loss = network.loss(batch, dice)\n"
                '        if step > config["steps"] // 2:\n'
                "            with torch.no_grad():\n"
                "                imagined, _ = network.fill(batch.context, batch.shape, dice)\n"
                "            loss = loss + network.loss(batch.shifted(imagined), dice)\n",
            ),
        ],
        {},
    ),
    # -- state representation
    (
        "offsets to all others",
        "state",
        False,
        "continuous",
        [
            (
                "    return torch.cat([states, registry], -1)\n",
                "    centre = states[..., :2].mean(1, keepdim=True)\n"
                "    offset = states[..., :2] - centre\n"
                "    return torch.cat([states, registry, offset, offset.norm(dim=-1, keepdim=True)], "
                "-1)\n",
            ),
        ],
        {},
    ),
    (
        "waves of positions",
        "state",
        False,
        "continuous",
        [
            (
                "    return torch.cat([states, registry], -1)\n",
                "    angle = states[..., :2, None] * 2.0 ** torch.arange(6) * math.pi\n"
                "    waves = torch.cat([angle.sin(), angle.cos()], -1).flatten(-2)\n"
                "    return torch.cat([states, waves, registry], -1)\n",
            ),
        ],
        {},
    ),
    (
        "finer bins near the middle",
        "state",
        False,
        "discrete",
        [
            (
                "    return (states[..., :2].clamp(0, 1) * (BINS - 1)).round().long()\n",
                "    bent = 0.5 + 0.5 * torch.tanh(3 * (states[..., :2] - 0.5)) / math.tanh(1.5)\n"
                "    return (bent.clamp(0, 1) * (BINS - 1)).round().long()\n",
            ),
            (
                "    return words.float() / (BINS - 1)\n",
                "    bent = words.float() / (BINS - 1)\n"
                "    return 0.5 + torch.atanh((2 * bent - 1) * math.tanh(1.5)) / 3\n",
            ),
        ],
        {},
    ),
    (
        "speeds brought to one scale",
        "state",
        False,
        "continuous",
        [
            (
                "    return torch.cat([states, registry], -1)\n",
                "    moving = states.clone()\n"
                "    moving[..., 3:5] = moving[..., 3:5] / 0.01\n"
                "    return torch.cat([moving, registry], -1)\n",
            ),
        ],
        {},
    ),
    # -- inference
    (
        "alive latches in a rollout",
        "inference",
        False,
        "continuous",
        [
            (
                "    numbers = torch.stack([g for",
                "    latched = (states[..., 2] > 0.5).float().cummin(1).values\n"
                "    states = torch.cat([states[..., :2], latched[..., None], states[..., 3:]], -1)\n"
                "    numbers = torch.stack([g for",
            ),
        ],
        {},
    ),
    (
        "mean of several rollouts",
        "inference",
        False,
        "discrete",
        [
            (
                "            drawn = torch.distributions.Categorical(chance).sample()\n",
                "            drawn = chance.argmax(-1)\n",
            ),
        ],
        {},
    ),
    (
        "the mean of the bins",
        "inference",
        False,
        "discrete",
        [
            (
                "        return decode(words), alive\n",
                "        likely = (logits / TEMPERATURE).softmax(-1)\n"
                "        return (likely * decode(torch.arange(BINS))).sum(-1), alive\n",
            ),
        ],
        {},
    ),
    (
        "two seeds and their median",
        "inference",
        False,
        "discrete",
        [
            (
                "        positions, alive = network.fill(described, history[:, -1, :, :2].shape, dice)\n",
                "        told = [\n"
                "            network.fill(described, history[:, -1, :, :2].shape, dice) for _ in range(5)\n"
                "        ]\n"
                "        positions = torch.stack([p for p, _ in told]).median(0).values\n"
                "        alive = torch.stack([a for _, a in told]).mean(0)\n",
            ),
        ],
        {},
    ),
    # -- data augmentation
    (
        "noise on seen frames",
        "augmentation",
        False,
        "continuous",
        [
            (
                "        batch = next(batches)\n",
                "        batch = next(batches)\n"
                "        noise = torch.randn_like(batch.states[..., :2])\n"
                '        batch.states[:, : config["seen"], :, :2] += 0.003 * noise['
                ':, : config["seen"]]\n',
            ),
        ],
        {},
    ),
    (
        "mirrored worlds",
        "augmentation",
        False,
        "continuous",
        [
            (
                "        batch = next(batches)\n",
                "        batch = next(batches)\n"
                "        if torch.rand(()) < 0.5:\n"
                "            batch = mirrored(batch)\n",
            ),
            (
                "def train(config, store, network):\n",
                "def mirrored(batch):\n"
                "    flipped = batch.states.clone()\n"
                "    flipped[..., 1] = 1 - flipped[..., 1]\n"
                "    flipped[..., 4] = -flipped[..., 4]\n"
                "    return batch.replace(states=flipped)\n\n\n"
                "def train(config, store, network):\n",
            ),
        ],
        {},
    ),
    (
        "wrong words among the shown",
        "augmentation",
        False,
        "discrete",
        [
            (
                "        shown, hidden = hide(words, dice)\n",
                "        shown, hidden = hide(words, dice)\n"
                "        corrupt = torch.rand(words.shape, generator=dice) < 0.05\n"
                "        shown = torch.where(corrupt, torch.randint(0, BINS, words.shape), shown)\n",
            ),
        ],
        {},
    ),
    (
        "eventful windows twice",
        "augmentation",
        False,
        "continuous",
        [
            (
                '    batches = training_batches(store, "train", config["length"], '
                'config["batch_size"])\n',
                "    batches = training_batches(\n"
                '        store, "train", config["length"], config["batch_size"],\n'
                "        sampling=lambda window: 1.0 + 3.0 * window.rewards.any(),\n"
                "    )\n",
            ),
        ],
        {},
    ),
    # -- optimisation schedule
    (
        "running mean of the weights",
        "schedule",
        False,
        "continuous",
        [
            (
                "    batches = training_batches",
                "    average = torch.optim.swa_utils.AveragedModel(network)\n"
                "    batches = training_batches",
            ),
            (
                "        optimizer.step()\n    return network\n",
                "        optimizer.step()\n        average.update_parameters(network)\n"
                "    return average.module\n",
            ),
        ],
        {},
    ),
    (
        "constant, then linear to zero",
        "schedule",
        False,
        "continuous",
        [
            (
                '    return config["rate"] * 0.5 * (1 + math.cos(math.pi * share))\n',
                '    return config["rate"] * min(1.0, (1 - share) / 0.3)\n',
            ),
        ],
        {},
    ),
    (
        "momentum instead",
        "schedule",
        False,
        "continuous",
        [
            (
                '    optimizer = torch.optim.AdamW(network.parameters(), lr=config["rate"], '
                "weight_decay=1e-5)\n",
                "    optimizer = torch.optim.SGD(\n"
                '        network.parameters(), lr=config["rate"], momentum=0.9, nesterov=True\n'
                "    )\n",
            ),
        ],
        {},
    ),
    (
        "clipped gradients",
        "schedule",
        False,
        "discrete",
        [
            (
                "        loss.backward()\n",
                "        loss.backward()\n"
                "        nn.utils.clip_grad_norm_(network.parameters(), 1.0)\n",
            ),
        ],
        {},
    ),
    # -- hyper-parameters only
    ("wider", "hyper", False, "continuous", [("WIDTH = 64", "WIDTH = 128")], {}),
    ("config alone", "hyper", False, "continuous", [], {"rate": 0.001, "unroll": 12}),
    (
        "weights of the loss",
        "hyper",
        False,
        "continuous",
        [
            (
                "POSITION, LIVING, GLOBALS = 1.0, 0.1, 0.05",
                "POSITION, LIVING, GLOBALS = 5.0, 0.1, 0.0",
            ),
        ],
        {},
    ),
    (
        "more rounds, cooler",
        "hyper",
        False,
        "discrete",
        [
            ("ROUNDS = 8", "ROUNDS = 12"),
            ("TEMPERATURE = 1.0", "TEMPERATURE = 0.7"),
        ],
        {"layers": 3},
    ),
    (
        "decay of weights",
        "hyper",
        False,
        "continuous",
        [
            ("weight_decay=1e-5)", "weight_decay=1e-2, betas=(0.9, 0.95))"),
        ],
        {},
    ),
    # -- bug fix
    (
        "mask the right way round",
        "bugfix",
        False,
        "continuous",
        [
            (
                "            tokens = block(tokens, ~mask)\n",
                "            tokens = block(tokens, mask)\n",
            ),
        ],
        {},
    ),
    (
        "off by one",
        "bugfix",
        False,
        "continuous",
        [
            (
                "            actions = batch.actions[:, seen - 1 + step]\n",
                "            actions = batch.actions[:, seen + step]\n",
            ),
        ],
        {},
    ),
    (
        "losses that are not finite",
        "bugfix",
        False,
        "continuous",
        [
            (
                "        optimizer.zero_grad()\n",
                "        if not torch.isfinite(loss):\n            continue\n"
                "        optimizer.zero_grad()\n",
            ),
        ],
        {},
    ),
    (
        "last round leaves nothing hidden",
        "bugfix",
        False,
        "discrete",
        [
            ("(sure >= line), drawn", "((sure >= line) | (turn == ROUNDS - 1)), drawn"),
        ],
        {},
    ),
    # -- cosmetic
    (
        "comments and formatting",
        "none",
        False,
        "continuous",
        [
            ("WIDTH = 64  # of every hidden layer", "WIDTH = 64  # a better width, believe me"),
            (
                "        tokens = tokens + mixed\n",
                "        # residual\n        tokens = (tokens + mixed)\n",
            ),
            ('"""Warm-up, then cosine."""', '"""Learning rate with warm-up."""'),
        ],
        {},
    ),
    (
        "names of locals",
        "none",
        False,
        "continuous",
        [
            (
                '    share = step / config["steps"]\n'
                '    return config["rate"] * 0.5 * (1 + math.cos(math.pi * share))\n',
                '    progress = step / config["steps"]\n'
                '    return config["rate"] * 0.5 * (1 + math.cos(math.pi * progress))\n',
            ),
        ],
        {},
    ),
    # -- written by hand
    (
        "the ball bounces by hand",
        "architecture",
        True,
        "continuous",
        [
            (
                "        positions = states[..., :2] + states[..., 3:5] + 0.01 * entity[..., :2]\n",
                "        speed = states[..., 3:5]\n"
                "        y = states[..., 1] + speed[..., 1]\n"
                "        up = torch.where((y < 0.02) | (y > 0.98), -speed[..., 1], speed[..., 1])\n"
                "        paddle = states[:, 1, 1:2]\n"
                "        meets = (states[..., 0] < 0.06) & ((states[..., 1] - paddle).abs() < 0.1)\n"
                "        right = torch.where(meets & (speed[..., 0] < 0), -speed[..., 0], speed[..., 0])\n"
                "        positions = states[..., :2] + torch.stack([right, up], -1)\n",
            ),
        ],
        {},
    ),
]
