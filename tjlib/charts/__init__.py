"""The charts of the book: a theme, one way to show them, one function a figure.

Decision: a chart function takes a tidy table and returns an Altair chart;
`tjlib.charts.show.show` puts it on a page. Refusal: nothing here computes a
number, and nothing here imports the code that does.
"""
