"""What the paper reports, to be printed beside ours (PhyProbe, arXiv 2609.38377)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reference:
    """One published number."""

    set: str
    """Our name of the set; empty for a mean over sets."""
    metric: str
    value: float
    who: str
    where: str
    note: str = ""


_TABLE_2 = "PhyProbe, Table 2"
_TEXT = "PhyProbe, section 4"
_MEAN = "by number of pairs; the plain mean of the four is 84.55 %"
REFERENCES = (
    Reference("implausibench", "pairwise_accuracy", 0.980, "PhyProbe", _TABLE_2, "150 pairs"),
    Reference("implausibench", "pairwise_accuracy", 0.952, "Gemini-3.1-Pro", _TABLE_2),
    Reference("videophy2", "pairwise_accuracy", 0.661, "PhyProbe", _TABLE_2),
    Reference("videophy2", "pairwise_accuracy", 0.705, "Gemini-3.1-Pro", _TABLE_2),
    Reference("phydetex", "pairwise_accuracy", 0.989, "PhyProbe", _TABLE_2),
    Reference("phydetex", "pairwise_accuracy", 0.490, "V-JEPA surprise", _TABLE_2),
    Reference("videofeedback2", "pairwise_accuracy", 0.752, "PhyProbe", _TABLE_2),
    Reference("", "pairwise_accuracy", 0.824, "PhyProbe", _TABLE_2, _MEAN),
    Reference("", "pairwise_accuracy", 0.781, "Gemini-3.1-Pro", _TABLE_2, _MEAN),
    Reference("monetbench", "pairwise_accuracy_ties", 0.727, "PhyProbe", "PhyProbe, Table 3"),
    Reference("rapidata", "pairwise_accuracy", 0.627, "PhyProbe", "PhyProbe, Table 3"),
    Reference("videogen_rewardbench", "pairwise_accuracy", 0.653, "PhyProbe", "PhyProbe, Table 3"),
    Reference("videofeedback2", "spearman", 0.596, "PhyProbe", _TEXT),
    Reference("videofeedback2", "pearson", 0.604, "PhyProbe", _TEXT),
    Reference("videophy2", "spearman", 0.293, "PhyProbe", _TEXT),
    Reference("", "fisher_mean_spearman", 0.458, "PhyProbe", _TEXT, "equal weights"),
    Reference("", "fisher_mean_pearson", 0.466, "PhyProbe", _TEXT, "equal weights"),
    Reference("implausibench", "auc", 0.980, "PhyProbe", "PhyProbe, Figure 9"),
    Reference("implausibench", "cohens_d", 3.26, "PhyProbe", "PhyProbe, Figure 9"),
)
