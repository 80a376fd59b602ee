"""The page: results of any study in one HTML file that opens from disk without a network.

plot         a figure as SVG with the numbers behind its lines
provenance   when, where and by what results were computed
render       the template, its style and its script, put together
study        the page of the studies of a user
explorer     a small chain to play with, computed in the browser
"""
