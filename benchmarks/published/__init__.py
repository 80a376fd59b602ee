"""Other ways to set λ or β from a stream, as learners that take part in studies.

LambdaGreedy        λ trades bias off against variance (White & White, 2016)
AdaptiveTD          TD targets must lie in a Monte Carlo interval (Penedones et al., 2019)
ExpectedTrace       the trace is predicted from x_t (van Hasselt et al., 2021)
AdaptiveInterest    interest descends the error on the next episode (after Klissarov et al., 2022)
MetaGradient        β descends the error on the next episode (after Xu et al., 2018)
LambdaDiscrepancy   β is low where TD(0) and TD(1) disagree (after Allen et al., 2024)
DiscerningTD        emphasis by predicted TD errors or noise (Ma, 2023)
"""

from benchmarks.published.adaptive_interest import AdaptiveInterest
from benchmarks.published.beliefs import (
    AdaptiveTD,
    DiscerningTD,
    LambdaDiscrepancy,
    LambdaGreedy,
)
from benchmarks.published.expected_trace import ExpectedTrace
from benchmarks.published.meta_gradient import MetaGradient
from preftd._src.learners.custom import Specification

__all__ = [
    "RIVALS",
    "AdaptiveInterest",
    "AdaptiveTD",
    "DiscerningTD",
    "ExpectedTrace",
    "LambdaDiscrepancy",
    "LambdaGreedy",
    "MetaGradient",
]

RIVALS: dict[str, Specification] = {
    rival.label: rival
    for rival in (
        LambdaGreedy(rate=0.1),
        LambdaGreedy(rate=0.03, preferential=True),
        AdaptiveTD(rate=0.03, width=10.0),
        MetaGradient(meta_rate=0.3, offset=3.0),
        LambdaDiscrepancy(rate=0.03, sharpness=10.0),
        DiscerningTD("noise", trace=0.9, rate=0.03, sharpness=1.0),
        DiscerningTD("error", trace=0.9, rate=0.3),
        ExpectedTrace(trace=0.5, rate=0.3, share=0.5),
        AdaptiveInterest(meta_rate=0.1, offset=3.0, trace=0.9),
        LambdaGreedy(cells=True, rate=0.03),
        LambdaGreedy(cells=True, rate=0.3, preferential=True),
        AdaptiveTD(cells=True, rate=0.1, width=1.0),
        MetaGradient(cells=True, meta_rate=0.3, offset=0.0),
        LambdaDiscrepancy(cells=True, rate=0.3, sharpness=1000.0),
        DiscerningTD("noise", cells=True, trace=0.0, rate=0.1, sharpness=4.0),
        DiscerningTD("error", cells=True, trace=0.9, rate=0.03),
        ExpectedTrace(cells=True, trace=0.5, rate=0.3, share=0.0),
        AdaptiveInterest(cells=True, meta_rate=1.0, offset=3.0, trace=0.9),
    )
}
"""The methods by name, with the options that `benchmarks.rivals_search` found best."""
