"""The reproduction of the paper: one folder per experiment, with all that belongs to its figures.

    counterexamples  two chains on which TD(λ) diverges (theory and simulation)
    walk             random walk (figures 2, A.1)
    corridors        corridors of hidden states (figures 3, A.2 to A.5)
    grids            grids with hidden cells (figures 4 to 6, A.6 to A.12)
    cartpole         actor-critic on CartPole (figure A.13)
    drop_outs        the same where observations are dropped (beyond the paper)
    control          decisions behind hidden states, and doorways (beyond the paper)
    learned          preferences that are learned (beyond the paper)

`__init__.py` of a folder describes its figures and what the paper found, `studies.py`
what is run, `figures.py` what is drawn of the results, and `claims.py` what is claimed about them.
They refer to studies as `PaperStudy` values.

What all experiments share:

    experiment  Experiment: figures and findings in words, and which modules hold the rest
    registry    all experiments in the order of the list, quick to load
    contents    all studies, figures and claims by name
    study       PaperStudy: its name, how it is built and what it needs
    figures     PaperFigure, and figures made of rows of panels
    claim       Claim: quantities computed from results, the region they should lie in, verdicts
    measures    from runs to a number per seed
    stored      the results of long studies, in files of this package
    order       what users order, and what is run or looked up for it
    reproduce   making figures
    summary     claims and verdicts as text
    page        the page of all of it
"""
