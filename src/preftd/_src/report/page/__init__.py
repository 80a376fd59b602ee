"""The page: results of any study in one HTML file that opens from disk without a network.

plot     a figure as SVG with the numbers behind its lines
render   the template, its style and its script, put together
"""
