"""The constants of `Learned`, all of them.

`python -m benchmarks ablation` shows what happens when one is halved or doubled.
"""

import math

ODDS = math.log(1000.0)
"""A Bayes factor of 1000 decides: on a width, on distrust, on what chance does not explain."""
FEW = 3.0
"""Repeated states that make a world, and failing cells that may make the Markov test void."""
TIMES = 4.0
"""How much likelier what recurs must be; 1 in 4 new observations must recur; how much farther
missing values are where others repeat; deviations between cells; observations for a mean."""
SEVERAL = 8.0
"""Recent new observations; visits of a cell that counts; 1 in 8 observations that follow a cell
must be near it, where states change gradually; later on, widths learn from 1 in 8."""
MANY = 64
"""Recent observations of a class; cells that the spread must have room for; steps of the clock;
observations of which one repeats in a world; steps until something new must recur, and between two
looks at whether the Markov test is void."""
TERM = 1024.0
"""Tests of a cell after which its counts restart."""
ENOUGH = 1.5
"""The logarithm of the Bayes factor that makes a cluster a cell; below 0 it is one no longer."""
SOME = 10.0
"""Visits that the width in use counts for in the variance within cells, and the variance of all
entries in that of each; how much farther than all others a missing value is."""
