"""The reproduction of the paper: one folder per experiment, each with studies, figures and claims.

    walk             random walk (figures 2, A.1)
    corridors        corridors of hidden states (figures 3, A.2 to A.5)
    grids            grids with hidden cells (figures 4 to 6, A.6 to A.12)
    counterexamples  two chains on which TD(λ) diverges (theory and simulation)

`studies.py` of a folder says what is run, its figures what is drawn of the results, and its claims
what the paper says about them. They refer to studies as `PaperStudy` values.

What all experiments share:

    study            PaperStudy: a study by name, how it is built and what it needs
    panel_rows       PaperFigure, and figures made of rows of panels; search_figure: step sizes
    verdict          regions, intervals and verdicts
    samples          a number per seed, and findings from them; measures: such numbers from runs
    claim            Claim: a comparison of quantities, and the region it should lie in
    limits           errors at the fixed points of the expected updates
    stored_searches  the results of long searches, in a file of this package
    order, reproduce what is run for a study, and making of figures
    claim_table, summary  claims and verdicts as text and as a page
    contents         all studies, figures and claims by name
"""
