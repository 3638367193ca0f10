"""Defects of public dreamers (RSSM), planted in ours by swapping one method each."""

from cosmolabe.bench.defects.defect import Defect, swapped
from cosmolabe.models.dreamer import FREE_NATS, UNIMIX, Dreamer

_AWM = "AutoWorldModelBench/Benchmark@86b3b285"
_symexp = Dreamer.unsquash


def _registry_only(self, seen):  # noqa: ANN001, ANN202 - stands for a method
    return seen.registry.expand_as(seen.tokens)


def _free_each(self, each):  # noqa: ANN001, ANN202
    return each.clamp(min=FREE_NATS).sum(-1)


def _not_stopped(self, logits):  # noqa: ANN001, ANN202
    return logits


def _mixed_logits(self, logits):  # noqa: ANN001, ANN202
    return ((1 - UNIMIX) * logits + UNIMIX / logits.shape[-1]).log_softmax(-1)


def _raw_in_training(self, values):  # noqa: ANN001, ANN202
    return values if self.training else _symexp(self, values)


DEFECTS = (
    Defect(
        "decoder-without-entities",
        "dreamer",
        "The decoder knows of an entity only its registry row and the pooled latent state.",
        f"{_AWM}, lib Dreamer: decodes every entity from (h, z) and registry",
        lambda: swapped(Dreamer, "seen_by_decoder", _registry_only),
    ),
    Defect(
        "free-nats-each",
        "dreamer",
        "The free nat is given to each categorical instead of to their sum.",
        f"{_AWM}: clamp(kl_per_var, min=1), 32 nats free; weipu-zhang/STORM#12; pytorch/rl#4073",
        lambda: swapped(Dreamer, "free_nats", _free_each),
    ),
    Defect(
        "no-stop-gradient",
        "dreamer",
        "Both KL terms pull prior and posterior alike.",
        f"{_AWM}: one KL without stop-gradients; pytorch/rl#4073",
        lambda: swapped(Dreamer, "stop", _not_stopped),
    ),
    Defect(
        "unimix-on-logits",
        "dreamer",
        "The uniform share is mixed into logits, where it changes nearly nothing.",
        f"{_AWM}: 0.99 * logits + 0.01 / K",
        lambda: swapped(Dreamer, "unimix", _mixed_logits),
    ),
    Defect(
        "another-inverse-of-symlog",
        "dreamer",
        "Training reads the points as they come, a rollout takes their symexp.",
        f"{_AWM}: symlog(net) against symlog(delta) in training, symexp(net) at inference",
        lambda: swapped(Dreamer, "unsquash", _raw_in_training),
    ),
)
