"""Tests of counterfactual replay."""
