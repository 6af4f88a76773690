"""Measures count: verdicts against labels, with their uncertainty."""
