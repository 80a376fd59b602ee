"""The reproduction of the paper: one folder per experiment, each with studies, figures and claims.

    walk             random walk (figures 2, A.1)
    corridors        corridors of hidden states (figures 3, A.2 to A.5)
    grids            grids with hidden cells (figures 4 to 6, A.6 to A.12)
    cartpole         actor-critic on CartPole (figure A.13)
    counterexamples  two chains on which TD(λ) diverges (theory and simulation)

`studies.py` of a folder says what is run, its figures what is drawn of the results, and its claims
what the paper says about them. They refer to studies as `PaperStudy` values.

What all experiments share:

    study            PaperStudy: its name, how it is built and what it needs
    panel_rows       PaperFigure, and figures made of rows of panels
    claim            Claim: quantities computed from results, and the region they should lie in
    measures         from runs to a number per seed
    samples          from numbers per seed to findings
    verdict          from an interval and a region to a verdict
    stored_searches  the results of long searches, in a file of this package
    stored_runs      the same for reported runs
    order            what users order, and what is run or looked up for it
    reproduce        making figures
    summary          claims and verdicts as text
    findings         findings of the paper in words, and their verdicts
    page             the page of all of it
    contents         all studies, figures and claims by name
    titles           names and titles of figures, quick to load
"""
